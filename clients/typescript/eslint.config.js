import eslint from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  globalIgnores(["build/", "src/gen/"]),
  eslint.configs.recommended,
  {
    files: ["src/**/*.ts", "test/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Recurses without end on recursive types, such as that of JSON.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "max-lines": ["error", 350],
      complexity: ["error", 12],
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      // Tests send numbers that the enums do not have.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      // node:test's `test` returns a promise that the runner itself awaits.
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", package: "node:test", name: ["test", "suite"] },
          ],
        },
      ],
    },
  },
);
