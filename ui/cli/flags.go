package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/remedies/action"
	"vksmedic/remedies/kb"
)

// flags are those that all commands share, and the dashboard's. What one other command
// takes stands in its file.
type flags struct {
	kubeconfig, context string
	namespaces          []string
	workloads           []string
	readOnly            bool
	from, asOf          string
	articles            string
	stalledAfter        time.Duration
}

// register defines the flags that all commands share, and those of the dashboard.
func (f *flags) register(c *cobra.Command) {
	all := c.PersistentFlags()
	all.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the Supervisor (default: $KUBECONFIG, then ~/.kube/config)")
	all.StringVar(&f.context, "context", "", "context in it (default: the current one)")
	all.StringSliceVarP(&f.namespaces, "namespace", "n", nil, "look at these vSphere Namespaces only, of a dump too; may be repeated")
	all.StringArrayVar(&f.workloads, "workload-kubeconfig", nil, "NAMESPACE/CLUSTER=FILE: a kubeconfig for a workload cluster, where its Secret may not be read; may be repeated")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return fmt.Errorf("%w; see %s --help", err, c.CommandPath()) })
	all.StringVar(&f.from, "from", "", "read a dump instead: a file, a folder, a .tar.gz or - for standard input; read-only")
	all.StringVar(&f.asOf, "as-of", "", "with --from: judge as of this time, RFC 3339 (default: the newest time in the dump)")
	all.DurationVar(&f.stalledAfter, "stalled-after", signature.StalledAfter, "how long a Machine may be Deleting before that is flagged")
	c.Flags().StringVar(&f.articles, "articles", "", "a folder with articles of your own, offered beside those of the program")
	c.Flags().BoolVar(&f.readOnly, "read-only", false, "change nothing, whatever is pressed")
}

// noWords refuses what is neither a flag nor a command.
func noWords(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no %q in %s; see %s --help", args[0], c.CommandPath(), c.CommandPath())
	}
	return nil
}

// judge finds the signatures, with what the flags say of them.
func (f *flags) judge() model.Judge {
	return signature.NewJudge(signature.Options{StalledAfter: f.stalledAfter})
}

// check refuses flags that contradict each other or say nothing: what is meant to be a
// look at a dump must never become one at a live Supervisor, nor the other way round.
func (f *flags) check(c *cobra.Command) error {
	given := c.Flags()
	if !given.Changed("from") {
		return nil
	}
	if f.from == "" {
		return errors.New("--from names nothing; give it a file, a folder, a .tar.gz or -")
	}
	for _, live := range []string{"kubeconfig", "context", "workload-kubeconfig"} {
		if given.Changed(live) {
			return fmt.Errorf("--%s goes with a live Supervisor, and --from %s is a dump, which is read whole; leave one of them out", live, f.from)
		}
	}
	return nil
}

// workloadFiles reads --workload-kubeconfig.
func workloadFiles(flags []string) (map[model.ClusterRef]string, error) {
	out := map[model.ClusterRef]string{}
	for _, f := range flags {
		cluster, file, ok := strings.Cut(f, "=")
		ns, name, named := strings.Cut(cluster, "/")
		if !ok || !named || ns == "" || name == "" || file == "" {
			return nil, fmt.Errorf("--workload-kubeconfig %s: write NAMESPACE/CLUSTER=FILE", f)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("--workload-kubeconfig %s: %w", f, err)
		}
		out[model.ClusterRef{Namespace: ns, Name: name}] = file
	}
	return out, nil
}

// asOfTime reads --as-of; zero where it was not given.
func (f *flags) asOfTime() (time.Time, error) {
	if f.asOf == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, f.asOf)
	if err != nil {
		return t, fmt.Errorf("--as-of %s: not a time like 2026-11-30T03:00:00Z", f.asOf)
	}
	return t, nil
}

// loadArticles loads the articles of the program, and those of --articles.
func (f *flags) loadArticles() (*kb.Catalogue, error) {
	return action.Articles(f.articles)
}
