package effect

import (
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// Command is the same write as a kubectl command. On the screen it refers to the YAML that
// stands above it. A command for a workload cluster says which one: it needs that one's kubeconfig.
func (c *Object) Command(s *remedies.Sites) remedies.Copy {
	words, head := []string{"kubectl"}, ""
	if c.At.Kind == model.PlaceCluster {
		head = "# with the kubeconfig of cluster " + text.Clean(c.At.Cluster.String()) + ":\n"
	} else if len(s.Kubectl) > 0 {
		words = append([]string{}, s.Kubectl...)
	}
	switch c.Verb {
	case Delete:
		words = append(words, "delete")
	case Create:
		words = append(words, "create")
	case Update:
		words = append(words, "replace")
	}
	if c.Namespace != "" {
		words = append(words, "-n", remedies.Quote(c.Namespace))
	}
	if c.Verb == Delete {
		resource := c.Resource
		if c.Group != "" {
			resource += "." + c.Group
		}
		return remedies.Copy{Text: head + strings.Join(append(words, remedies.Quote(resource), remedies.Quote(c.Name)), " ")}
	}
	line := head + strings.Join(words, " ")
	body := YAML(c.Sent().Object)
	if body != text.CleanLines(body) {
		return remedies.Copy{Text: head + "# " + strings.Join(words, " ") + " -f FILE (the object holds characters that a terminal must not be given)"}
	}
	end := "EOF"
	for strings.Contains("\n"+body, "\n"+end+"\n") {
		end += "F"
	}
	return remedies.Copy{Text: line + " -f - <<'" + end + "'\n" + body + end, Shown: line + " -f -   # with the YAML above; c copies both"}
}
