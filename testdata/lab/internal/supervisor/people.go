package supervisor

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/kube"
)

// Person is somebody who logs in to the Supervisor.
type Person struct {
	// Short is the name on the lab's command line.
	Short string
	// User is the name that the API server sees.
	User string
	// Namespaces become contexts of the kubeconfig; "" is the Supervisor itself.
	Namespaces []string
}

// The namespaces of a Supervisor that the lab has.
const (
	ServicesNamespace   = "vmware-system-supervisor-services"
	VMOperatorNamespace = "vmware-system-vmop"
)

// VSphereNamespaces are the ones in which people have clusters.
func VSphereNamespaces() []string { return []string{"team-a", "team-b", "team-c"} }

// People are the lab's users.
func People() []Person {
	return []Person{
		{Short: "administrator", User: "administrator@vsphere.local", Namespaces: append([]string{""}, VSphereNamespaces()...)},
		{Short: "devops", User: "devops@vsphere.local", Namespaces: []string{"team-b"}},
		{Short: "viewer", User: "viewer@vsphere.local", Namespaces: []string{""}},
	}
}

// createPeople makes namespaces, roles and bindings, and everyone's kubeconfig.
func (s *Supervisor) createPeople(ctx context.Context) error {
	var objects []client.Object
	for _, name := range append(VSphereNamespaces(), ServicesNamespace, VMOperatorNamespace) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name[0] == 't' {
			// The label that tells a vSphere Namespace from the system's own.
			namespace.Labels = map[string]string{"vSphereClusterID": "domain-c9"}
		}
		objects = append(objects, namespace)
	}
	objects = append(objects, roles()...)
	for _, object := range objects {
		if err := s.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T %s: %w", object, object.GetName(), err)
		}
	}
	host := s.options.Net.Supervisor()
	for _, person := range append(People(), Person{Short: "lab", User: kube.AdminUser}) {
		var groups []string
		if person.User == kube.AdminUser {
			groups = []string{kube.AdminGroup}
		}
		access, err := kube.NewAccess(s.ca, s.Server, person.User, groups...)
		if err != nil {
			return fmt.Errorf("make a kubeconfig: %w", err)
		}
		// The names that the vSphere plug-in of kubectl gives at a login.
		access.Cluster, access.User, access.Namespaces = host, "wcp:"+host+":"+person.User, person.Namespaces
		path := filepath.Join(s.options.Dir, "kubeconfig-"+person.Short)
		if err := access.WriteKubeconfig(path); err != nil {
			return fmt.Errorf("make a kubeconfig: %w", err)
		}
		s.Kubeconfigs[person.Short] = path
	}
	return nil
}

// roles are what people may do. The administrator has every right by a role, not
// by a group that passes all checks; "edit" in a vSphere Namespace reaches the
// Kubernetes Service's kinds by aggregation.
func roles() []client.Object {
	everything := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	read := []string{"get", "list", "watch"}
	clusterAPI := []string{"cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "addons.cluster.x-k8s.io"}
	virtualMachines := []string{"vmoperator.vmware.com", "vmware.infrastructure.cluster.x-k8s.io"}
	person := func(user string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	}
	clusterRole := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	const viewerRole = "vsphere-viewer"
	return []client.Object{
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "administrators"},
			Subjects:   person("administrator@vsphere.local"), RoleRef: clusterRole("cluster-admin"),
		},
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "vsphere-namespace-edit", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: append(clusterAPI, virtualMachines...), Resources: []string{"*"}, Verbs: everything},
				{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: everything},
			},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "wcp:team-b:user:vsphere.local:devops"},
			Subjects:   person("devops@vsphere.local"), RoleRef: clusterRole("edit"),
		},
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: viewerRole},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: append(clusterAPI, virtualMachines...), Resources: []string{"*"}, Verbs: read},
				{APIGroups: []string{""}, Resources: []string{"namespaces", "services", "endpoints", "events"}, Verbs: read},
				{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: read},
				{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: read},
				{APIGroups: []string{"packaging.carvel.dev"}, Resources: []string{"packageinstalls"}, Verbs: read},
			},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: viewerRole},
			Subjects:   person("viewer@vsphere.local"), RoleRef: clusterRole(viewerRole),
		},
	}
}
