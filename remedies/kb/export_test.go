package kb

import "reflect"

// What the tables of README.md are made from, for the test that stands outside of this
// package: it may import the actions, which import this package.

// ArticleType is the type of an article as it stands in a file.
func ArticleType() reflect.Type { return reflect.TypeFor[articleFile]() }

// StepType is the type of a step as it stands in a file.
func StepType() reflect.Type { return reflect.TypeFor[stepFile]() }

// FunctionNames are the functions that templates have beside text/template's own.
func FunctionNames() []string { return keys(functions()) }

// TypeWords names a type for a person who writes no Go.
func TypeWords(t reflect.Type) string { return typeWords(t) }

// OwnKinds are the kinds of Kubernetes that own articles may write whole, by their groups.
func OwnKinds() map[string][]string { return ownKinds() }
