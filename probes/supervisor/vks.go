package supervisor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
)

const (
	vksEvery = 5 * time.Minute
	// The package of the vSphere Kubernetes Service, and where its ClusterClasses are.
	vksNamespace   = "vmware-system-supervisor-services"
	vksInstall     = "svc-tkg.vsphere.vmware.com"
	classNamespace = "vmware-system-vks-public"
)

// keepVersion reads the version of the vSphere Kubernetes Service now and every few
// minutes. Where the package may not be read, the newest ClusterClass gives a lower
// bound: they are named after the release that brought them (builtin-generic-v3.5.0).
func (c *Connection) keepVersion(ctx context.Context, b *board) {
	wait := backoff{random: c.opts.Random}
	classes := false
	for ctx.Err() == nil {
		bell := c.again.listen()
		v, err := c.packageVersion(ctx)
		if ctx.Err() != nil {
			return
		}
		next := vksEvery + time.Duration(c.opts.Random()*float64(vksEvery)/10)
		if err != nil {
			state, why := c.versionTrouble(err)
			if state == model.SourceUnreachable {
				next = wait.wait(DelayAsked(err))
			} else if !classes {
				classes = c.learnFromClasses(ctx, b)
			}
			b.about(func(s *model.Supervisor) { s.VKSDetail = why })
			b.trouble(model.SourceVKS, state, why)
		} else {
			wait.reset()
			b.about(func(s *model.Supervisor) { s.VKS, s.VKSDetail = v, "" })
			b.fresh(model.SourceVKS, true) // asked every few minutes, which is as live as a version gets.
		}
		if DelayAsked(err) > 0 {
			bell = nil // it is left alone for that long, whatever is pressed.
		}
		if !sleep(ctx, next, bell) {
			return
		}
	}
}

func (c *Connection) packageVersion(ctx context.Context) (string, error) {
	ctx, cancel := c.brief(ctx)
	defer cancel()
	gvr := schema.GroupVersionResource{Group: "packaging.carvel.dev", Version: "v1alpha1", Resource: "packageinstalls"}
	u, err := c.client.Resource(gvr).Namespace(vksNamespace).Get(ctx, vksInstall, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot read packageinstall %s/%s: %w", vksNamespace, vksInstall, err)
	}
	if v, _, _ := unstructured.NestedString(u.Object, "status", "version"); v != "" {
		return v, nil
	}
	v, _, _ := unstructured.NestedString(u.Object, "spec", "packageRef", "versionSelection", "constraints")
	return v, nil
}

func (c *Connection) versionTrouble(err error) (model.SourceState, string) {
	if apierrors.IsNotFound(err) {
		return model.SourceNotServed, fmt.Sprintf("there is no packageinstall %s/%s, so the version of VKS is not known", vksNamespace, vksInstall)
	}
	return c.Explain(err, fmt.Sprintf("get packageinstalls.packaging.carvel.dev in namespace %s (the version of VKS)", vksNamespace))
}

// learnFromClasses asks once for the names of the ClusterClasses.
func (c *Connection) learnFromClasses(ctx context.Context, b *board) bool {
	gvr, _, ok, err := c.ResourceFor(ctx, "ClusterClass")
	if err != nil || !ok {
		return false
	}
	ctx, cancel := c.brief(ctx)
	defer cancel()
	list, err := c.client.Resource(gvr).Namespace(classNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		c.opts.Log.Info("no lower bound for the version of VKS", "error", err.Error())
		return apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
	}
	for i := range list.Items {
		noteClass(b, list.Items[i].GetName())
	}
	return true
}

// noteClass raises the lower bound to the release that a ClusterClass came with.
func noteClass(b *board, class string) {
	v := classVersion(class)
	if v == "" {
		return
	}
	b.about(func(s *model.Supervisor) {
		if s.VKSAtLeast == "" || newerRelease(v, s.VKSAtLeast) {
			s.VKSAtLeast = v
		}
	})
}
