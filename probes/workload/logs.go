package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"sync"

	"vksmedic/model"
	"vksmedic/model/component"
	"vksmedic/probes/supervisor"
)

const (
	// logsLimit is how many logs are read in one look; logLines and logBytes how much of each:
	// what tells why a container ended stands at its end.
	logsLimit = 16
	logLines  = 40
	logBytes  = 16 << 10
)

// logs reads the end of the logs of system components that fail, of the container that runs and
// of the one before it. A log that was read is not read again before the container has been
// restarted. Only the components' own containers are read: they log no secrets, and nobody else's
// log is looked at.
func (r *reading) logs(ctx context.Context, before *model.Workload) {
	var wanted []model.LogExcerpt
	for i := range r.w.Pods {
		p := &r.w.Pods[i]
		c, failing := failingComponent(p)
		if !failing || !slices.Contains(r.near, p.Node) {
			continue
		}
		for _, previous := range []bool{true, false} {
			wanted = append(wanted, model.LogExcerpt{Namespace: p.Namespace, Pod: p.Name, PodUID: p.UID, Container: c.Name, Restarts: c.Restarts, Previous: previous})
		}
	}
	slices.SortFunc(wanted, func(a, b model.LogExcerpt) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod))
	})
	wanted = wanted[:min(len(wanted), logsLimit)]
	var all sync.WaitGroup
	for i := range wanted {
		if known, ok := readBefore(before, wanted[i]); ok {
			wanted[i] = known
			continue
		}
		all.Go(func() {
			l := &wanted[i]
			l.Read = r.now
			if text, err := r.c.log(ctx, *l); err != nil {
				l.Why = err.Error()
			} else {
				l.Text = text
			}
		})
	}
	all.Wait()
	r.w.Logs = wanted
}

// failingComponent is the component's own container of a pod, if it fails.
func failingComponent(p *model.Pod) (*model.Container, bool) {
	comp, ok := component.Of(p)
	if !ok {
		return nil, false
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Name == comp.Name && !c.Init && !c.Ready && (c.Restarts > 0 || c.Ended != nil || c.Last != nil) {
			return c, true
		}
	}
	return nil, false
}

// readBefore finds a log among those of the last look.
func readBefore(before *model.Workload, want model.LogExcerpt) (model.LogExcerpt, bool) {
	if before == nil {
		return model.LogExcerpt{}, false
	}
	for _, l := range before.Logs {
		if l.Text != "" && l.PodUID == want.PodUID && l.Namespace == want.Namespace && l.Pod == want.Pod && l.Container == want.Container && l.Previous == want.Previous && l.Restarts == want.Restarts {
			return l, true
		}
	}
	return model.LogExcerpt{}, false
}

// log reads the end of one log. The API server asks the kubelet for it, so that one fails where
// the node does not answer.
func (c *client) log(ctx context.Context, l model.LogExcerpt) (string, error) {
	u := *c.base
	u.Path = path.Join("/", u.Path, "api/v1/namespaces", l.Namespace, "pods", l.Pod, "log")
	q := url.Values{"container": {l.Container}, "tailLines": {strconv.Itoa(logLines)}, "limitBytes": {strconv.Itoa(logBytes)}}
	if l.Previous {
		q.Set("previous", "true")
	}
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("cannot ask for the log of pod %s/%s: %w", l.Namespace, l.Pod, err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", errors.New("the log could not be read: " + supervisor.ExplainReach(err, c.server))
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, logBytes))
	switch {
	case err != nil:
		return "", errors.New("the log could not be read: " + supervisor.ExplainReach(err, c.server))
	case res.StatusCode == http.StatusForbidden:
		return "", errors.New("the user of the cluster's kubeconfig may not get pods/log")
	case res.StatusCode == http.StatusBadRequest && l.Previous:
		return "", errors.New("there is no log of the container before this one")
	case res.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the log could not be read: %s answered %s", c.server, res.Status)
	}
	return string(body), nil
}
