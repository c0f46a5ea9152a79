// The pages of the site, in the order of its sidebar: a heading, and what stands under it. Paths are those of the repository.
export const PAGES = {
  'Using ptlite': ['docs/api.md', 'docs/deploy.md', 'docs/limits.md', 'docs/reliability.md', 'docs/security.md', 'docs/support.md'],
  Models: ['docs/model-formats.md', 'docs/compatibility.md', 'docs/operators.md', 'docs/custom-ops.md', 'docs/selective-build.md'],
  'How it works': [
    'docs/architecture.md',
    'docs/compiler.md',
    'docs/plan-execution.md',
    'docs/jit.md',
    'docs/arm.md',
    'docs/codegen.md',
    'docs/instructions.md',
    'docs/files.md',
  ],
  Contributing: [
    'CONTRIBUTING.md',
    'docs/adding-an-operator.md',
    'docs/adding-a-kernel.md',
    'docs/fuzzing.md',
    'docs/releasing.md',
    'SECURITY.md',
    'CHANGELOG.md',
  ],
}
