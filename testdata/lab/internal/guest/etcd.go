package guest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/pki"
)

// joinEtcd starts the VM's etcd member: the first one alone, each later one as a
// learner of the living members, promoted when it has caught up, as kubeadm does.
func (c *Cluster) joinEtcd(ctx context.Context, ca *authorities, m *machine) error {
	member := component.Etcd{Member: m.Name, Host: c.memberHost(m), Dir: c.Dir, Certs: ca.dir}
	others := c.memberURLs(m)
	if m.etcd == nil {
		if err := ca.memberCertificates(m.Name, member.Host); err != nil {
			return err
		}
		if len(others) > 0 {
			if err := c.addLearner(ctx, ca, m, &member, others); err != nil {
				return err
			}
		}
		process, err := c.Programs.StartEtcd(c.Launcher, c.processName("etcd "+m.Name), member)
		if err != nil {
			return fmt.Errorf("start etcd of %s: %w", m.Name, err)
		}
		c.mu.Lock()
		m.etcd = process
		c.mu.Unlock()
	}
	if m.learner == 0 {
		return nil
	}
	return c.promote(ctx, ca, m, others)
}

func (c *Cluster) addLearner(ctx context.Context, ca *authorities, m *machine, member *component.Etcd, others []string) error {
	etcd, err := ca.etcdClient(others)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	added, err := etcd.MemberAddAsLearner(ctx, []string{member.PeerURL()})
	if err = errors.Join(err, etcd.Close()); err != nil {
		return fmt.Errorf("add %s to etcd: %w", m.Name, err)
	}
	m.learner = added.Member.ID
	var members []string
	for _, each := range added.Members {
		name := each.Name
		if each.ID == m.learner {
			name = m.Name // Unnamed until it has started.
		}
		members = append(members, name+"="+each.PeerURLs[0])
	}
	member.InitialCluster = strings.Join(members, ",")
	return nil
}

// promote makes the learner a voter. It is refused until the learner has caught
// up.
func (c *Cluster) promote(ctx context.Context, ca *authorities, m *machine, others []string) error {
	etcd, err := ca.etcdClient(others)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = kube.Poll(ctx, 200*time.Millisecond, "etcd of "+m.Name+" to catch up", func(ctx context.Context) (bool, error) {
		_, err := etcd.MemberPromote(ctx, m.learner)
		return err == nil, nil
	})
	if err = errors.Join(err, etcd.Close()); err != nil {
		return fmt.Errorf("promote %s in etcd: %w", m.Name, err)
	}
	m.learner = 0
	return nil
}

// memberURLs are the client URLs of all voting members but m.
func (c *Cluster) memberURLs(m *machine) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var urls []string
	for _, other := range c.machines {
		if other != m && other.etcd != nil && other.learner == 0 && !other.etcd.Exited() {
			urls = append(urls, "https://"+c.memberHost(other)+":2379")
		}
	}
	return urls
}

func (a *authorities) etcdClient(urls []string) (*clientv3.Client, error) {
	config, err := a.etcd.TLS(pki.Request{CommonName: kube.AdminUser})
	if err != nil {
		return nil, fmt.Errorf("make an etcd client's certificate: %w", err)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: urls, TLS: config, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	return etcd, nil
}

func (c *Cluster) processName(what string) string { return c.Namespace + "/" + c.Name + " " + what }
