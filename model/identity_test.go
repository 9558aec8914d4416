package model

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSame(t *testing.T) {
	ns := func(name, uid string) Marks { return Marks{Namespace: name, NamespaceUID: uid} }
	for _, tt := range []struct {
		name          string
		recorded, now Marks
		want          bool
		why           string // part of the sentence.
	}{
		{"the same namespace user", ns("team-a", "n1"), ns("team-a", "n1"), true, ""},
		{"an administrator resumes what a namespace user began", ns("team-a", "n1"), Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca"}, true, ""},
		{"a namespace user resumes what an administrator began", Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca"}, Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "", CA: "ca"}, true, ""},
		{"only kube-system in common", Marks{SystemUID: "s1"}, Marks{Namespace: "team-b", NamespaceUID: "n2", SystemUID: "s1", CA: ""}, true, ""},
		{"namespaces of different names are not compared", Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: ""}, Marks{Namespace: "team-b", NamespaceUID: "n2", SystemUID: "s1", CA: ""}, true, ""},
		{"another Supervisor", Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca"}, Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s2", CA: "ca"}, false, "this is another Supervisor: its namespace kube-system has the uid s2, and the one recorded is s1"},
		{"the namespace was made again", Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca"}, Marks{Namespace: "team-a", NamespaceUID: "n2", SystemUID: "s1", CA: "ca"}, false, "vSphere Namespace team-a is another one: its uid is n2, and the one recorded is n1"},
		{"another certificate authority", Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca1"}, Marks{Namespace: "team-a", NamespaceUID: "n1", SystemUID: "s1", CA: "ca2"}, false, "trusts another certificate authority than the one recorded"},
		{"a certificate authority alone is not enough", Marks{CA: "ca"}, Marks{CA: "ca"}, false, "no uid was recorded"},
		{"the same node", Marks{MachineID: "m1"}, Marks{MachineID: "m1"}, true, ""},
		{"another node", Marks{MachineID: "m1"}, Marks{MachineID: "m2"}, false, "this is another node: its machine id is m2"},
		{"a node whose machine id cannot be read", Marks{MachineID: "m1"}, Marks{}, false, "cannot be told"},
		{"the same vCenter", Marks{InstanceUUID: "i1"}, Marks{InstanceUUID: "i1"}, true, ""},
		{"another vCenter", Marks{InstanceUUID: "i1"}, Marks{InstanceUUID: "i2"}, false, "this is another vCenter"},
		{"nothing is known", Marks{}, Marks{}, false, "no uid was recorded"},
		{"nothing can be read now", ns("team-a", "n1"), Marks{Namespace: "team-a", CA: "ca"}, false, "neither the uid of vSphere Namespace team-a nor that of kube-system can be read"},
		{"kube-system cannot be read now", Marks{SystemUID: "s1"}, Marks{}, false, "the uid of namespace kube-system cannot be read"},
		{"two namespaces", ns("team-a", "n1"), ns("team-b", "n1"), false, "the record has the uid of vSphere Namespace team-a and here that of team-b is known"},
		{"only the namespace was recorded, and it cannot be read", ns("team-a", "n1"), Marks{Namespace: "team-a", SystemUID: "s1"}, false, "the record has only the uid of vSphere Namespace team-a"},
		{"only kube-system was recorded, and it cannot be read", Marks{SystemUID: "s1"}, ns("team-a", "n1"), false, "the record has only the uid of namespace kube-system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if same, why := Same(tt.recorded, tt.now); same != tt.want || !strings.Contains(why, tt.why) || same != (why == "") {
				t.Errorf("%v, %q", same, why)
			}
		})
	}
}

// Every pair of marks, judged by the rule as it is written: a mark that both have is equal,
// none differs, and a uid is among them.
func TestSameForEveryPair(t *testing.T) {
	var all []Marks
	for _, ns := range []string{"", "a", "b"} {
		for _, nsUID := range []string{"", "1", "2"} {
			for _, system := range []string{"", "1", "2"} {
				for _, ca := range []string{"", "1", "2"} {
					if ns == "" && nsUID != "" {
						continue
					}
					all = append(all, Marks{Namespace: ns, NamespaceUID: nsUID, SystemUID: system, CA: ca})
				}
			}
		}
	}
	counts := map[bool]int{}
	for _, a := range all {
		for _, b := range all {
			equal, different := 0, 0
			uids := [][2]string{{a.SystemUID, b.SystemUID}}
			if a.Namespace == b.Namespace {
				uids = append(uids, [2]string{a.NamespaceUID, b.NamespaceUID})
			}
			for i, p := range append(uids, [2]string{a.CA, b.CA}) {
				switch {
				case p[0] == "" || p[1] == "":
				case p[0] != p[1]:
					different++
				case i < len(uids):
					equal++
				}
			}
			want := equal > 0 && different == 0
			same, why := Same(a, b)
			back, _ := Same(b, a)
			if same != want || back != want || (why == "") != want {
				t.Errorf("%+v and %+v: %v, the other way round %v, want %v; %q", a, b, same, back, want, why)
			}
			counts[want]++
		}
	}
	if counts[true] == 0 || counts[false] == 0 {
		t.Errorf("%v", counts)
	}
}

func TestMarksLeaveOutWhatIsNotKnown(t *testing.T) {
	b, err := json.Marshal(Marks{Namespace: "team-a", NamespaceUID: "n1"})
	if err != nil || string(b) != `{"namespace":"team-a","namespaceUID":"n1"}` {
		t.Errorf("%s, %v", b, err)
	}
}
