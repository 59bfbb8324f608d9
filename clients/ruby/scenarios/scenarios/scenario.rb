# frozen_string_literal: true

module Scenarios
  # One scenario as its file says it.
  Scenario = Struct.new(:name, :steps) do
    # Reads a scenario's file. Raises ScenarioError where it is no scenario.
    def self.load(path)
      told = JsonText.parse(File.read(path, encoding: Encoding::UTF_8))
      name = File.basename(path, '.json')
      unless told.keys.sort == %w[about name steps topics] && told['name'] == name
        raise ScenarioError,
              "#{name}.json has no name, about, topics and steps, or another name than the file"
      end

      new(name, told['steps'])
    rescue JSON::ParserError
      raise ScenarioError, "#{path} is no JSON"
    end

    # Reads every scenario of a folder, in the order of their names.
    def self.load_all(folder)
      names = Dir.children(folder).select { |name| name.end_with?('.json') && name != 'volatile.json' }
      names.sort.map { |name| load(File.join(folder, name)) }
    end

    # Reads the names of what a server makes anew each time.
    def self.load_volatile(folder)
      JsonText.parse(File.read(File.join(folder, 'volatile.json'), encoding: Encoding::UTF_8))
    end
  end
end
