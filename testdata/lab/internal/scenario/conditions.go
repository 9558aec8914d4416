package scenario

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// conditionTrue matches the condition of the kind when it holds.
func conditionTrue(kind string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Type == kind && c.Status == metav1.ConditionTrue }
}
