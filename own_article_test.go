//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/testdata/labtest"
)

// ownArticle is an article that a team wrote itself, with the general actions that it may use.
const ownArticle = `id: ask-the-owner
title: Ask who owns {{ .Facts.Machine }}'s pods
signature: drain-blocked
target: "{{ .Facts.Machine }}"
finished: "{{ if .Left }}The note stays.{{ else }}The note is gone again.{{ end }} Machine {{ .Facts.Machine }} is {{ .Target }}."
steps:
  - id: look
    title: Look at the budgets
    why: The budget says whose pods they are.
    action: look
    with:
      objects:
        - kind: PodDisruptionBudget
          group: policy
          in: cluster
          columns:
            - {title: name, path: .metadata.name}
            - {title: allowed, path: .status.disruptionsAllowed}
        - kind: Machine
          group: cluster.x-k8s.io
          name: "{{ .Facts.Machine }}"
          columns:
            - {title: phase, path: .status.phase}
  - id: who
    title: Who was asked
    why: The next one on call wants to know.
    action: choose
    with:
      question: Who was asked?
      default: nobody
      options:
        - {id: nobody, title: Nobody yet}
        - {id: database, title: The database team}
  - id: note
    title: Leave a note
    why: Others see it in the vSphere Namespace.
    action: change-object
    undo: forget
    when: '{{ eq .Choice.who "database" }}'
    otherwise: Nobody was asked.
    with:
      mode: create
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: asked-for-{{ .Cluster.Name }}
        data:
          machine: "{{ .Facts.Machine }}"
  - id: seen
    title: Wait until the note is there
    why: Then the others can read it.
    action: wait-condition
    with:
      until:
        object: {kind: ConfigMap, name: "asked-for-{{ .Cluster.Name }}"}
        path: .data.machine
        equals: "{{ .Facts.Machine }}"
      timeout: 1m
  - id: forget
    title: Take the note away
    why: It was only an example.
    action: take-back
    with:
      step: note
`

// testOwnArticle walks an engineer's own article by keys, from the finding to the end.
func testOwnArticle(t *testing.T, lab *labtest.Lab) {
	folder := filepath.Join(t.TempDir(), "articles")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "ask-the-owner.yaml"), []byte(ownArticle), 0o600); err != nil {
		t.Fatal(err)
	}
	notes := lab.Dynamic(t, "lab").Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("team-c")
	note := func() (machine string, there bool) {
		u, err := notes.Get(context.Background(), "asked-for-ml", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", false
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := u.Object["data"].(map[string]any)
		machine, _ = data["machine"].(string)
		return machine, true
	}
	x := open(t, lab, "administrator", 120, 40, t.TempDir(), "--articles", folder)
	x.WaitFor("team-c/ml", "budget db")
	x.Press("/", "team-c", "enter")
	x.WaitGone("team-a/web")
	x.Press("enter")
	x.WaitFor("PodDisruptionBudget db")
	x.Press("enter")
	x.WaitFor("disruption", "345904")
	x.Press("enter")
	x.WaitFor("Look at the budgets", "db", "goes on")
	x.Press("enter")
	x.WaitFor("Who was asked?")
	x.Press("j")
	x.WaitFor("● The database team")
	x.Press("enter")
	x.WaitFor("ConfigMap", "asked-for-ml", "accepted (dry run)")
	if _, there := note(); there {
		t.Fatal("the preview made the note")
	}
	readOn(x)
	x.Press("a")
	until(t, "the note is there", func() bool { _, there := note(); return there })
	if machine, _ := note(); !strings.HasPrefix(machine, "ml-") {
		t.Errorf("the note is about %q", machine)
	}
	onward(x, "Delete ConfigMap asked-for-ml")
	readOn(x)
	x.Press("a")
	until(t, "the note is gone", func() bool { _, there := note(); return !there })
	onward(x, "The note is gone again.")
	x.WaitFor("is there")
}
