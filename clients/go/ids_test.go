package antiphon_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"antiphon"
)

func TestIDsAreCanonicalAndUnique(t *testing.T) {
	for version, make := range map[int]func() string{4: antiphon.NewID, 7: antiphon.NewRequestID} {
		form := regexp.MustCompile(fmt.Sprintf(`^[0-9a-f]{8}-[0-9a-f]{4}-%d[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, version))
		seen := map[string]bool{}
		for count := 0; count < 1000; count++ {
			id := make()
			if !form.MatchString(id) || seen[id] {
				t.Fatalf("version %d gives %s", version, id)
			}
			seen[id] = true
		}
	}
}

func TestRequestIDsBeginWithTheTime(t *testing.T) {
	before := time.Now().UnixMilli()
	id := antiphon.NewRequestID()
	after := time.Now().UnixMilli()
	var high, low int64
	if _, err := fmt.Sscanf(id, "%8x-%4x", &high, &low); err != nil {
		t.Fatal(err)
	}
	if made := high<<16 | low; made < before || made > after {
		t.Errorf("made at %d, between %d and %d", made, before, after)
	}
}
