package guest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vksmedic/testdata/lab/internal/kube"
)

// AgentLabel marks pinniped's kube-cert-agent: its Deployment and its pods.
const AgentLabel = "kube-cert-agent.pinniped.dev"

// startPlayed starts the controllers that play kubelets, scheduler and concierge.
// They end with the cluster.
func (c *Cluster) startPlayed(cfg *rest.Config) error {
	scheme, err := kube.NewScheme()
	if err != nil {
		return fmt.Errorf("play the nodes of %s: %w", c.Name, err)
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		// Every workload cluster has controllers of the same names.
		Controller: config.Controller{SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: 4},
	})
	if err != nil {
		return fmt.Errorf("play the nodes of %s: %w", c.Name, err)
	}
	if err := ctrl.NewControllerManagedBy(mgr).Named("kubelet").For(&corev1.Pod{}).Complete(podPlayer{mgr.GetClient()}); err != nil {
		return fmt.Errorf("play the kubelets of %s: %w", c.Name, err)
	}
	concierge := conciergePlayer{mgr.GetClient()}
	if err := ctrl.NewControllerManagedBy(mgr).Named("concierge").For(&appsv1.Deployment{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(concierge.agents)).Complete(concierge); err != nil {
		return fmt.Errorf("play the concierge of %s: %w", c.Name, err)
	}
	go func() {
		if err := mgr.Start(c.ctx); err != nil && c.ctx.Err() == nil {
			c.Log("%s/%s: the played nodes stopped: %v", c.Namespace, c.Name, err)
		}
	}()
	return nil
}

// podPlayer plays the scheduler, for pods without a node, and the kubelets, for
// the others.
type podPlayer struct {
	client client.Client
}

// Reconcile implements reconcile.Reconciler.
func (p podPlayer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := p.client.Get(ctx, request.NamespacedName, pod); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return reconcile.Result{}, nil // Written as a whole when its VM boots.
	}
	if pod.Spec.NodeName == "" {
		return p.schedule(ctx, pod)
	}
	if pod.DeletionTimestamp != nil {
		// The API server set the time at which the grace period is over.
		if left := time.Until(pod.DeletionTimestamp.Time); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		return reconcile.Result{}, ignore(p.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID}))
	}
	if pod.Status.Phase == corev1.PodRunning {
		return reconcile.Result{}, nil
	}
	node := &corev1.Node{}
	if err := p.client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); err != nil {
		return reconcile.Result{}, ignore(err) // No kubelet there.
	}
	markRunning(pod, node, metav1.Now())
	return reconcile.Result{}, ignore(p.client.Status().Update(ctx, pod))
}

// schedule binds the pod to the first node, by number of pods and then by name,
// that is ready, not cordoned, and has no taint.
func (p podPlayer) schedule(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	var nodes corev1.NodeList
	if err := p.client.List(ctx, &nodes); err != nil {
		return reconcile.Result{}, fmt.Errorf("list Nodes: %w", err)
	}
	var pods corev1.PodList
	if err := p.client.List(ctx, &pods); err != nil {
		return reconcile.Result{}, fmt.Errorf("list pods: %w", err)
	}
	load := map[string]int{}
	for i := range pods.Items {
		load[pods.Items[i].Spec.NodeName]++
	}
	fit := slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool {
		return node.Spec.Unschedulable || len(node.Spec.Taints) > 0 || node.DeletionTimestamp != nil || !nodeReady(&node)
	})
	if len(fit) == 0 {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	chosen := slices.MinFunc(fit, func(a, b corev1.Node) int {
		return cmp.Or(cmp.Compare(load[a.Name], load[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: chosen.Name}}
	return reconcile.Result{}, ignore(p.client.SubResource("binding").Create(ctx, pod, binding))
}

// conciergePlayer stands in for pinniped's concierge, which pins the agent's
// Deployment to the node of a kube-controller-manager pod, and pins it elsewhere
// only when that node is gone. Like the concierge before 0.36 it takes the newest
// such pod and does not look at whether its node is cordoned.
type conciergePlayer struct {
	client client.Client
}

// agents maps a change of any Node to all agent Deployments.
func (p conciergePlayer) agents(ctx context.Context, _ client.Object) []reconcile.Request {
	var deployments appsv1.DeploymentList
	if err := p.client.List(ctx, &deployments, client.HasLabels{AgentLabel}); err != nil {
		return nil // The cache answers; it fails only while it stops.
	}
	var requests []reconcile.Request
	for i := range deployments.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&deployments.Items[i])})
	}
	return requests
}

// Reconcile implements reconcile.Reconciler.
func (p conciergePlayer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &appsv1.Deployment{}
	if err := p.client.Get(ctx, request.NamespacedName, deployment); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	if _, agent := deployment.Labels[AgentLabel]; !agent {
		return reconcile.Result{}, nil
	}
	err := p.client.Get(ctx, client.ObjectKey{Name: deployment.Spec.Template.Spec.NodeName}, &corev1.Node{})
	if !apierrors.IsNotFound(err) {
		return reconcile.Result{}, ignore(err)
	}
	node, err := p.controllerManagerNode(ctx)
	if err != nil || node == "" {
		return reconcile.Result{RequeueAfter: time.Second}, err
	}
	deployment.Spec.Template.Spec.NodeName = node
	return reconcile.Result{}, ignore(p.client.Update(ctx, deployment))
}

// controllerManagerNode is the node of the newest running kube-controller-manager
// pod, or empty.
func (p conciergePlayer) controllerManagerNode(ctx context.Context) (string, error) {
	var pods corev1.PodList
	if err := p.client.List(ctx, &pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "kube-controller-manager"}); err != nil {
		return "", fmt.Errorf("list kube-controller-manager pods: %w", err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		err := p.client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, &corev1.Node{})
		if err == nil {
			return pod.Spec.NodeName, nil
		}
		if !apierrors.IsNotFound(err) {
			return "", fmt.Errorf("get Node %s: %w", pod.Spec.NodeName, err)
		}
	}
	return "", nil
}

func nodeReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

// ignore drops errors that mean that the object was changed or deleted meanwhile; that
// change leads to another reconcile.
func ignore(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
