package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// memberPointer returns the JSON pointer (RFC 6901) of an object's member.
func memberPointer(pointer, name string) string {
	return pointer + "/" + pointerEscapes.Replace(name)
}

// indexPointer returns the JSON pointer of a list's member.
func indexPointer(pointer string, index int) string {
	return pointer + "/" + strconv.Itoa(index)
}

// resolve returns what a JSON pointer leads to.
func resolve(value any, pointer string) (any, error) {
	for _, part := range strings.Split(pointer, "/")[1:] {
		var next any = missing{}
		switch value := value.(type) {
		case object:
			next = value.get(pointerUnescapes.Replace(part))
		case list:
			if index, err := strconv.Atoi(part); err == nil && index >= 0 && index < len(value) {
				next = value[index]
			}
		}
		if next == any(missing{}) {
			return nil, fmt.Errorf("the reply has nothing at %s", pointer)
		}
		value = next
	}
	return value, nil
}
