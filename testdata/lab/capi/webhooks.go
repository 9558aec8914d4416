package capi

import (
	"fmt"

	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	controlplaneadmission "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	ctrl "sigs.k8s.io/controller-runtime"
)

// webhooks adds Cluster API's admission webhooks; each of them also registers the
// conversion webhook of its kind.
type webhooks struct {
	mgr          ctrl.Manager
	clusterCache clustercache.ClusterCache // Nil when nothing is reconciled; only Clusters with a topology ask it.
}

func (w webhooks) add() error {
	c := w.mgr.GetClient()
	for _, hook := range []interface {
		SetupWebhookWithManager(ctrl.Manager) error
	}{
		&coreadmission.ClusterClass{Client: c},
		&coreadmission.Cluster{Client: c, ClusterCacheReader: w.clusterCache},
		&coreadmission.Machine{},
		&coreadmission.MachineSet{},
		&coreadmission.MachineDeployment{},
		&coreadmission.MachineDrainRule{},
		&coreadmission.MachinePool{},
		&coreadmission.MachineHealthCheck{},
		&coreadmission.ClusterResourceSet{},
		&coreadmission.ClusterResourceSetBinding{},
		&coreadmission.ExtensionConfig{},
		&coreadmission.IPAddress{Client: w.mgr.GetAPIReader()},
		&coreadmission.IPAddressClaim{},
		&bootstrapadmission.KubeadmConfig{},
		&bootstrapadmission.KubeadmConfigTemplate{},
		&controlplaneadmission.KubeadmControlPlane{},
		&controlplaneadmission.KubeadmControlPlaneTemplate{},
		&controlplaneadmission.ScaleValidator{Client: c},
	} {
		if err := hook.SetupWebhookWithManager(w.mgr); err != nil {
			return fmt.Errorf("set up the webhook %T: %w", hook, err)
		}
	}
	return nil
}
