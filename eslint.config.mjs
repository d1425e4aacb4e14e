import tseslint from 'typescript-eslint';

/** What the workflow sandbox does not have, or must not be asked for. */
const sandboxGlobals = [
  'process',
  'fetch',
  'crypto',
  'Buffer',
  'structuredClone',
  'performance',
  'setInterval',
  'console',
];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'bench/build/',
      'node_modules/',
      'bench/node_modules/',
      '.cache/',
      '.deer-flow/',
      'tests/replay/histories/',
      'coverage/',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({
    ...config,
    files: ['**/*.ts'],
    ignores: ['bench/peers/**'],
  })),
  // The packages of the peers need not be installed: rules that ask for types would not know them.
  ...tseslint.configs.strict.map((config) => ({ ...config, files: ['bench/peers/**/*.{ts,mts}'] })),
  {
    files: ['**/*.ts'],
    ignores: ['bench/peers/**'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/require-await': 'off',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['workflows/**/*.ts', 'core/**/*.ts', 'contracts/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...sandboxGlobals],
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['config/**', 'workers/stack/**', 'scripts/**', 'tests/**', 'bench/**', 'observability/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config/ reads the environment.' },
      ],
    },
  },
  {
    // What tests read is answers of unknown shape; assertions say what it must be.
    files: ['tests/**/*.ts'],
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/only-throw-error': 'off',
    },
  },
);
