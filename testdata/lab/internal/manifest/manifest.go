// Package manifest installs CustomResourceDefinitions and webhook configurations
// as they ship in Cluster API's, CAPV's and VM Operator's repositories, with what
// their installers would add: conversion webhooks, contract labels and
// certificates. The files are copied out of Go modules when the lab is built.
//
// Start reading at Install.
package manifest

import (
	"bytes"
	"context"
	_ "embed" // For the PackageInstall definition.
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/kube"
)

// Contract labels say which versions of a kind keep which contract of Cluster
// API. Its installers add them with kustomize.
const (
	contractV1Beta1 = "cluster.x-k8s.io/v1beta1"
	contractV1Beta2 = "cluster.x-k8s.io/v1beta2"
)

// clusterAPIFolder is the folder of Cluster API's own definitions; capvFolder
// that of the infrastructure provider's.
const (
	clusterAPIFolder = "cluster-api"
	capvFolder       = "capv"
	vmOperatorFolder = "vm-operator"
)

// packageInstallCRD stands in for Carvel's kapp-controller, whose PackageInstall
// says which version of the Kubernetes Service is installed.
//
//go:embed packageinstalls.yaml
var packageInstallCRD []byte

// Source is where the files are and what to make of them.
type Source struct {
	// Dir has crds/<project>/*.yaml and webhooks/*.yaml.
	Dir string
	// WebhookURL is the Cluster API manager's webhook server, WebhookCA the PEM of
	// the authority of its certificate.
	WebhookURL string
	WebhookCA  []byte
	// NoDrainRules leaves MachineDrainRule out, as before Cluster API 1.9.
	NoDrainRules bool
}

// Install creates all definitions and waits until the API server serves them.
func Install(ctx context.Context, c client.Client, s Source) error {
	crds, err := s.definitions()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := c.Create(ctx, crd); err != nil {
			return fmt.Errorf("create CustomResourceDefinition %s: %w", crd.Name, err)
		}
	}
	return WaitEstablished(ctx, c)
}

// WaitEstablished waits until every definition is served.
func WaitEstablished(ctx context.Context, c client.Client) error {
	err := kube.Poll(ctx, 100*time.Millisecond, "the CustomResourceDefinitions", func(ctx context.Context) (bool, error) {
		var list apiextensionsv1.CustomResourceDefinitionList
		if err := c.List(ctx, &list); err != nil {
			return false, fmt.Errorf("list CustomResourceDefinitions: %w", err)
		}
		return !slices.ContainsFunc(list.Items, func(crd apiextensionsv1.CustomResourceDefinition) bool {
			return !slices.ContainsFunc(crd.Status.Conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
			})
		}), nil
	})
	return err
}

// InstallWebhooks creates Cluster API's admission webhook configurations. Once they
// exist, objects of Cluster API can be written only while its manager runs.
func InstallWebhooks(ctx context.Context, c client.Client, s Source) error {
	files, err := filepath.Glob(filepath.Join(s.Dir, "webhooks", "*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("find webhook configurations in %s: run make lab", s.Dir), err)
	}
	for _, file := range files {
		suffix := "-" + filepath.Base(file[:len(file)-len(".yaml")])
		documents, err := readDocuments(file)
		if err != nil {
			return err
		}
		for _, from := range documents {
			if err := s.createWebhook(ctx, c, from, suffix); err != nil {
				return fmt.Errorf("install the webhooks of %s: %w", file, err)
			}
		}
	}
	return nil
}

func (s Source) createWebhook(ctx context.Context, c client.Client, from document, suffix string) error {
	var object client.Object
	switch from.kind {
	case "MutatingWebhookConfiguration":
		o := &admissionv1.MutatingWebhookConfiguration{}
		if err := from.into(o); err != nil {
			return err
		}
		for i := range o.Webhooks {
			s.pointAt(&o.Webhooks[i].ClientConfig)
		}
		object = o
	case "ValidatingWebhookConfiguration":
		o := &admissionv1.ValidatingWebhookConfiguration{}
		if err := from.into(o); err != nil {
			return err
		}
		for i := range o.Webhooks {
			s.pointAt(&o.Webhooks[i].ClientConfig)
		}
		object = o
	default:
		return nil // The Service in front of the webhooks; a lab has none.
	}
	object.SetName(object.GetName() + suffix)
	if err := c.Create(ctx, object); err != nil {
		return fmt.Errorf("create %s: %w", object.GetName(), err)
	}
	return nil
}

// pointAt replaces a reference to a Service by the URL of the manager.
func (s Source) pointAt(config *admissionv1.WebhookClientConfig) {
	url := s.WebhookURL
	if config.Service != nil && config.Service.Path != nil {
		url += *config.Service.Path
	}
	config.Service, config.URL, config.CABundle = nil, &url, s.WebhookCA
}

func (s Source) definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, project := range []string{clusterAPIFolder, capvFolder, vmOperatorFolder} {
		files, err := filepath.Glob(filepath.Join(s.Dir, "crds", project, "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, errors.Join(fmt.Errorf("find the definitions of %s in %s: run make lab", project, s.Dir), err)
		}
		for _, file := range files {
			documents, err := readDocuments(file)
			if err != nil {
				return nil, err
			}
			for _, from := range documents {
				crd, err := asDefinition(from)
				if err != nil {
					return nil, fmt.Errorf("read %s: %w", file, err)
				}
				if crd == nil || s.NoDrainRules && crd.Spec.Names.Kind == "MachineDrainRule" {
					continue
				}
				s.complete(project, crd)
				crds = append(crds, crd)
			}
		}
	}
	documents, err := decodeDocuments(packageInstallCRD)
	if err != nil {
		return nil, err
	}
	crd, err := asDefinition(documents[0])
	if err != nil {
		return nil, err
	}
	return append(crds, crd), nil
}

// complete adds what the project's installer adds.
func (s Source) complete(project string, crd *apiextensionsv1.CustomResourceDefinition) {
	if crd.Labels == nil {
		crd.Labels = map[string]string{}
	}
	switch project {
	case clusterAPIFolder:
		crd.Labels[contractV1Beta1], crd.Labels[contractV1Beta2] = "v1beta1", "v1beta2"
		url := s.WebhookURL + "/convert"
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: s.WebhookCA},
			},
		}
	case capvFolder:
		keepStorageVersion(crd)
		crd.Labels[contractV1Beta2] = "v1beta2"
	default:
		keepStorageVersion(crd)
	}
}

// keepStorageVersion takes all versions but the stored one away. The webhooks that
// convert between them belong to CAPV and VM Operator, which do not run here; without
// them the API server would serve objects of one version under the name of another.
func keepStorageVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return !v.Storage
	})
	crd.Spec.Conversion = nil
}

// document is one YAML document of a file, as JSON.
type document struct {
	kind string
	json json.RawMessage
}

func (d document) into(object any) error {
	if err := json.Unmarshal(d.json, object); err != nil {
		return fmt.Errorf("read a %s: %w", d.kind, err)
	}
	return nil
}

// asDefinition returns nil for a document of another kind.
func asDefinition(from document) (*apiextensionsv1.CustomResourceDefinition, error) {
	if from.kind != "CustomResourceDefinition" {
		return nil, nil //nolint:nilnil // Some other object of the project.
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, from.into(crd)
}

func readDocuments(file string) ([]document, error) {
	content, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	documents, err := decodeDocuments(content)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return documents, nil
}

func decodeDocuments(content []byte) ([]document, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var documents []document
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode YAML: %w", err)
		}
		var head struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("read the kind of a document: %w", err)
		}
		documents = append(documents, document{kind: head.Kind, json: raw})
	}
}
