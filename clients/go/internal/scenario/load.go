package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	extension    = ".json"
	volatileFile = "volatile" + extension
)

// Scenario is one scenario as its file says it.
type Scenario struct {
	Name  string
	steps []object
}

// Steps returns how many steps the scenario has.
func (s *Scenario) Steps() int {
	return len(s.steps)
}

// Suite is the scenarios of a folder.
type Suite struct {
	// Scenarios are in the order of their names.
	Scenarios []*Scenario
	volatile  map[string]bool
}

// Load reads the scenarios of a folder.
func Load(folder string) (*Suite, error) {
	suite := &Suite{volatile: map[string]bool{}}
	volatile, err := parseFile(filepath.Join(folder, volatileFile))
	if err != nil {
		return nil, err
	}
	names, _ := volatile.(list)
	for _, name := range names {
		if text, ok := name.(string); ok {
			suite.volatile[text] = true
		}
	}
	// ReadDir sorts by name.
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !strings.HasSuffix(entry.Name(), extension) || entry.Name() == volatileFile {
			continue
		}
		scenario, err := load(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		suite.Scenarios = append(suite.Scenarios, scenario)
	}
	return suite, nil
}

// Choose keeps the scenarios of these names alone.
func (s *Suite) Choose(names []string) error {
	var chosen []*Scenario
	found := map[string]bool{}
	for _, scenario := range s.Scenarios {
		if contains(names, scenario.Name) {
			chosen = append(chosen, scenario)
			found[scenario.Name] = true
		}
	}
	for _, name := range names {
		if !found[name] {
			return fmt.Errorf("there is no scenario %s", name)
		}
	}
	s.Scenarios = chosen
	return nil
}

func load(path string) (*Scenario, error) {
	value, err := parseFile(path)
	if err != nil {
		return nil, err
	}
	told, _ := value.(object)
	if err := told.only("a scenario", "name", "about", "topics", "steps"); err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), extension)
	steps, ok := told.get("steps").(list)
	if told.get("name") != any(name) || !ok {
		return nil, fmt.Errorf("it has no steps, or another name than its file")
	}
	scenario := &Scenario{Name: name}
	for _, step := range steps {
		members, ok := step.(object)
		if !ok {
			return nil, fmt.Errorf("a step is no object: %s", show(step))
		}
		scenario.steps = append(scenario.steps, members)
	}
	return scenario, nil
}

func parseFile(path string) (any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(text)
}
