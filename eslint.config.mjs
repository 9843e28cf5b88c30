import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/**
 * The folders and files of src, from the top down: each imports only from those after it, and from its own folder. `soap` and
 * `get-post` do not know each other.
 */
const LAYERS = [
  ['main'],
  ['run'],
  ['index'],
  ['cli', 'workers'],
  ['app'],
  ['pages'],
  ['soap', 'get-post'],
  ['call'],
  ['contract'],
  ['service'],
  ['xml'],
  ['access'],
  ['telemetry'],
  ['http'],
  ['config'],
  ['log'],
  ['events'],
  ['senders'],
  ['util'],
];

const directionOfImports = LAYERS.flatMap((layer, height) =>
  layer.flatMap((name) => {
    const above = LAYERS.slice(0, height + 1)
      .flat()
      .filter((other) => other !== name);
    if (above.length === 0) return [];
    const message = `src/${name} imports only from what stands below it: see LAYERS in eslint.config.mjs`;
    const rule = (folder) => ({
      'no-restricted-imports': ['error', { patterns: [{ regex: `^${folder}(?:${above.join('|')})(?:/|$)`, message }] }],
    });
    return [
      { files: [`src/${name}.ts`], rules: rule('\\./') },
      { files: [`src/${name}/**/*.ts`], rules: rule('(?:\\.\\./)+') },
    ];
  }),
);

export default tseslint.config(
  { ignores: ['dist/', 'coverage/'] },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  { rules: { 'no-duplicate-imports': 'error' } },
  { languageOptions: { parserOptions: { project: ['./test/tsconfig.json'], tsconfigRootDir: import.meta.dirname } } },
  { files: ['**/*.{js,mjs,cjs}'], extends: [tseslint.configs.disableTypeChecked] },
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: globals.node },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  { files: ['src/pages/**/templates/*.js'], languageOptions: { globals: globals.browser } },
  ...directionOfImports,
  prettier,
);
