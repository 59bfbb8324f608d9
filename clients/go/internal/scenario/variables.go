package scenario

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"antiphon"
)

var (
	mark  = regexp.MustCompile(`\$\$|\$\{(new:)?([A-Za-z_][A-Za-z0-9_]*)\}`)
	maker = regexp.MustCompile(`^\$[a-z0-9]+$`)
)

// variables are the texts that a scenario keeps, by name.
type variables map[string]string

// makerOf returns the name and contents of an object that makes or matches a
// value, such as {"$repeat": …}.
func makerOf(value any) (name string, contents any, ok bool) {
	members, isObject := value.(object)
	if !isObject || len(members) != 1 || !maker.MatchString(members[0].name) {
		return "", nil, false
	}
	return members[0].name, members[0].value, true
}

// keep keeps a reply's text, number or boolean as a text.
func (v variables) keep(name string, value any) error {
	switch value := value.(type) {
	case string:
		v[name] = value
	case json.Number:
		v[name] = value.String()
	case bool:
		v[name] = strconv.FormatBool(value)
	default:
		return fmt.Errorf("only a text, a number or a boolean can be saved, not %s", show(value))
	}
	return nil
}

// request returns a value of a request with its variables replaced and its
// makers made.
func (v variables) request(value any) (any, error) {
	return v.expand(value, false)
}

// expectation does the same for an expectation, in which matchers may stand;
// they stay.
func (v variables) expectation(value any) (any, error) {
	return v.expand(value, true)
}

func (v variables) expand(value any, expected bool) (any, error) {
	if name, contents, ok := makerOf(value); ok {
		if _, isMatcher := matchers[name]; !isMatcher || !expected {
			return v.made(name, contents)
		}
		inner, err := v.expand(contents, expected)
		return object{{name, inner}}, err
	}
	switch value := value.(type) {
	case string:
		return v.text(value)
	case list:
		return v.expandList(value, expected)
	case object:
		return v.expandObject(value, expected)
	}
	return value, nil
}

func (v variables) expandList(values list, expected bool) (any, error) {
	made := make(list, len(values))
	for index, each := range values {
		var err error
		if made[index], err = v.expand(each, expected); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (v variables) expandObject(members object, expected bool) (any, error) {
	made := make(object, len(members))
	for index, each := range members {
		var err error
		if made[index].name, err = v.text(each.name); err != nil {
			return nil, err
		}
		if made[index].value, err = v.expand(each.value, expected); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// text returns a text with its variables replaced; what they hold is not looked
// into again.
func (v variables) text(template string) (string, error) {
	var unknown error
	replaced := mark.ReplaceAllStringFunc(template, func(found string) string {
		groups := mark.FindStringSubmatch(found)
		name := groups[2]
		if name == "" {
			return "$"
		}
		if groups[1] != "" {
			v[name] = antiphon.NewID()
		}
		value, ok := v[name]
		if !ok && unknown == nil {
			unknown = fmt.Errorf("the variable %s has no value", name)
		}
		return value
	})
	return replaced, unknown
}

func (v variables) made(name string, contents any) (any, error) {
	switch name {
	case "$repeat":
		return v.repeat(contents)
	case "$list":
		return v.list(contents)
	case "$json":
		value, err := v.request(contents)
		if err != nil {
			return nil, err
		}
		return jsonText(value), nil
	}
	return nil, fmt.Errorf("%s makes no value", name)
}

func (v variables) repeat(contents any) (any, error) {
	value, count, err := pair(contents)
	if err != nil {
		return nil, err
	}
	template, ok := value[0].(string)
	if !ok {
		return nil, fmt.Errorf("$repeat takes a text, not %s", show(value[0]))
	}
	text, err := v.text(template)
	return strings.Repeat(text, count), err
}

func (v variables) list(contents any) (any, error) {
	values, count, err := pair(contents)
	if err != nil {
		return nil, err
	}
	outer, nested := v["i"]
	made := make(list, count)
	for index := range made {
		v["i"] = strconv.Itoa(index)
		if made[index], err = v.request(values[1]); err != nil {
			return nil, err
		}
	}
	delete(v, "i")
	if nested {
		v["i"] = outer
	}
	return made, nil
}

// pair returns the two members of a maker's contents, and the count that one of
// them is.
func pair(contents any) (list, int, error) {
	values, ok := contents.(list)
	if ok && len(values) == 2 {
		for _, each := range values {
			if number, isNumber := each.(json.Number); isNumber {
				if count, err := strconv.Atoi(number.String()); err == nil && count >= 0 {
					return values, count, nil
				}
			}
		}
	}
	return nil, 0, fmt.Errorf("no value and count: %s", show(contents))
}
