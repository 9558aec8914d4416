package kb

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// sampler makes values to try templates with.
type sampler struct {
	n        int  // how long lists and maps are.
	pointers bool // whether pointers lead anywhere.
}

// maxDepth is how deep types are followed that contain themselves.
const maxDepth = 8

// facts are values of one type of facts: empty, and with every field set, with lists of
// several lengths and with pointers that lead nowhere.
func factsSamples(empty func() any, longest int) []sample {
	t := reflect.TypeOf(empty()).Elem()
	out := []sample{{"empty facts", empty()}}
	lengths := []int{1, 2, 3}
	if longest > 3 && longest < 64 {
		lengths = append(lengths, longest, longest+1)
	}
	for _, n := range lengths {
		v := reflect.New(t)
		(&sampler{n: n, pointers: true}).set(v.Elem(), "facts", 0)
		out = append(out, sample{"facts with lists of length " + fmt.Sprint(n), v.Interface()})
	}
	v := reflect.New(t)
	(&sampler{n: 1}).set(v.Elem(), "facts", 0)
	return append(out, sample{"facts with parts that are not there", v.Interface()})
}

type sample struct {
	words string
	facts any
}

// set gives a value to everything that a template can reach. Texts look like names of objects.
func (s *sampler) set(v reflect.Value, name string, depth int) {
	if depth > maxDepth || !v.CanSet() {
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others stay empty.
	case reflect.String:
		v.SetString("sample-" + strings.ToLower(name))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(s.n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(s.n)) //nolint:gosec // a small number.
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(s.n))
	case reflect.Pointer:
		if s.pointers {
			v.Set(reflect.New(v.Type().Elem()))
			s.set(v.Elem(), name, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), s.n, s.n))
		for i := range s.n {
			s.set(v.Index(i), name, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			s.set(v.Index(i), name, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range s.n {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			s.set(key, fmt.Sprintf("%s-%d", name, i), depth+1)
			s.set(elem, name, depth+1)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
			return
		}
		for f, field := range v.Fields() {
			if f.IsExported() {
				s.set(field, f.Name, depth+1)
			}
		}
	}
}
