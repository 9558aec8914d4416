package model

import "fmt"

// Marks are what tells one place from every other, as far as it could be read. A walk
// and a debt keep those that were readable when they began; an administrator and the user
// of one vSphere Namespace read different ones. The server's version is no mark, and
// neither is its address: both can be the same for two Supervisors.
type Marks struct {
	// Namespace is the name of the vSphere Namespace that was asked for, also where its uid
	// could not be read; empty where none was.
	Namespace string `json:"namespace,omitempty"`
	// NamespaceUID is the uid of Namespace.
	NamespaceUID string `json:"namespaceUID,omitempty"`
	// SystemUID is the uid of the namespace kube-system.
	SystemUID string `json:"systemUID,omitempty"`
	// CA is the SHA-256 of the certificate authority that the server is verified by, in
	// hexadecimal; empty where the kubeconfig names none or does not verify the server.
	CA string `json:"ca,omitempty"`
	// MachineID is /etc/machine-id of a node, InstanceUUID the instanceUuid of a vCenter:
	// for places that are no Kubernetes API.
	MachineID    string `json:"machineID,omitempty"`
	InstanceUUID string `json:"instanceUUID,omitempty"`
}

// Lines are the marks that are known, one a line and always in the same order.
func (m Marks) Lines() []string {
	var out []string
	for _, x := range [][2]string{
		{"namespace " + m.Namespace, m.NamespaceUID}, {"kube-system", m.SystemUID}, {"certificate authority", m.CA},
		{"machine id", m.MachineID}, {"instance", m.InstanceUUID},
	} {
		if x[1] != "" {
			out = append(out, x[0]+": "+x[1])
		}
	}
	return out
}

// Same says whether two sets of marks are of one Supervisor: a mark that both have is
// equal, none differs, and at least one of those that are equal is a uid. recorded is what
// was kept, now is what is read; the answer is the same either way round. why is a sentence
// for the engineer where the answer is no. The uids of vSphere Namespaces are compared
// where they have the same name.
func Same(recorded, now Marks) (same bool, why string) {
	differs := func(a, b string) bool { return a != "" && b != "" && a != b }
	equal := func(a, b string) bool { return a != "" && a == b }
	oneNamespace := equal(recorded.Namespace, now.Namespace)
	switch {
	case differs(recorded.MachineID, now.MachineID):
		return false, fmt.Sprintf("this is another node: its machine id is %s, and the one recorded is %s", now.MachineID, recorded.MachineID)
	case differs(recorded.InstanceUUID, now.InstanceUUID):
		return false, fmt.Sprintf("this is another vCenter: its instance is %s, and the one recorded is %s", now.InstanceUUID, recorded.InstanceUUID)
	case equal(recorded.MachineID, now.MachineID), equal(recorded.InstanceUUID, now.InstanceUUID):
		return true, ""
	case differs(recorded.SystemUID, now.SystemUID):
		return false, fmt.Sprintf("this is another Supervisor: its namespace kube-system has the uid %s, and the one recorded is %s; start with the kubeconfig of the Supervisor that is meant",
			now.SystemUID, recorded.SystemUID)
	case oneNamespace && differs(recorded.NamespaceUID, now.NamespaceUID):
		return false, fmt.Sprintf("vSphere Namespace %s is another one: its uid is %s, and the one recorded is %s; this is another Supervisor, or the namespace was deleted and made again",
			now.Namespace, now.NamespaceUID, recorded.NamespaceUID)
	case !equal(recorded.SystemUID, now.SystemUID) && (!oneNamespace || !equal(recorded.NamespaceUID, now.NamespaceUID)):
		return false, noCommonUID(recorded, now)
	case differs(recorded.CA, now.CA):
		return false, "the uids are those recorded, but the kubeconfig trusts another certificate authority than the one recorded: " +
			"the Supervisor's certificate was replaced, the kubeconfig was made in another way, or another server answers with copied data; " +
			"use the kubeconfig that was used then, or ask the vSphere administrator whether the certificate was replaced, and if so begin anew"
	}
	return true, ""
}

// noCommonUID says what is missing to tell whether two sets of marks are of one Supervisor.
func noCommonUID(recorded, now Marks) string {
	const head = "it cannot be told whether this is the same Supervisor: "
	switch {
	case recorded.NamespaceUID == "" && recorded.SystemUID == "":
		return head + "no uid was recorded, neither of the vSphere Namespace nor of kube-system"
	case now.NamespaceUID == "" && now.SystemUID == "" && now.Namespace == "":
		return head + "the uid of namespace kube-system cannot be read; ask for get on namespaces"
	case now.NamespaceUID == "" && now.SystemUID == "":
		return head + fmt.Sprintf("neither the uid of vSphere Namespace %s nor that of kube-system can be read; ask for get on one of these namespaces", now.Namespace)
	case recorded.NamespaceUID != "" && now.NamespaceUID != "":
		return head + fmt.Sprintf("the record has the uid of vSphere Namespace %s and here that of %s is known, and kube-system's uid is not known for both; ask for get on namespace kube-system", recorded.Namespace, now.Namespace)
	case recorded.SystemUID == "":
		return head + fmt.Sprintf("the record has only the uid of vSphere Namespace %s, which cannot be read here; ask for get on that namespace", recorded.Namespace)
	}
	return head + "the record has only the uid of namespace kube-system, which cannot be read here; ask for get on that namespace, or log in as an administrator"
}
