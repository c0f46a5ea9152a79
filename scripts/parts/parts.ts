/**
 * How dist/index.js is divided. `import 'ptlite'` loads the part 'runtime'; each other part is a file that is loaded when a function in it is first
 * called. A file belongs to the first part that names it; `*` is any text. The last part takes what is left.
 */
export interface Part {
  readonly name: string
  readonly files: readonly string[]
  /** Parts that are loaded together with this one, as it uses more of them than single functions. */
  readonly needs: readonly string[]
}

const cpu = (...names: string[]): string[] => names.map((name) => `runtime/backends/cpu/${name}.ts`)
const composite = (...names: string[]): string[] => names.map((name) => `runtime/backends/composite/${name}.ts`)

/** Native functions by family; they call each other as operators. */
const FAMILIES: readonly (readonly [string, readonly string[]])[] = [
  [
    'pointwise',
    [
      ...cpu(
        'activation',
        'binary',
        'clamp',
        'comparison',
        'complex-arithmetic',
        'fill-copy',
        'logical',
        'ternary',
        'unary',
        'incomplete-gamma',
      ),
      ...composite('activation', 'dropout', 'pointwise'),
    ],
  ],
  // operators that only the compiler writes
  ['compiled-layers', cpu('blocked*', 'compiled', 'sparse-product')],
  [
    'layers',
    [
      ...cpu('convolution', 'im2col', 'matmul', 'norm', 'pooling', 'prepacked', 'softmax', 'fractional-pool', 'variance'),
      ...composite('convolution', 'matmul', 'norm', 'padding', 'pooling', 'slow-convolution'),
    ],
  ],
  ['transformers', [...cpu('attention', 'rms-norm', 'rotary'), ...composite('attention', 'scaled-attention', 'transformer')]],
  [
    'shapes',
    composite(
      'cat',
      'convert',
      'diagonal',
      'factory',
      'indexing',
      'introspection',
      'join-split',
      'scatter-view',
      'sequence',
      'shape',
      'storage',
      'vander',
      'view*',
    ),
  ],
  [
    'reductions',
    [
      ...cpu('cumulative', 'reduction', 'segment-reduce', 'sort', 'unique', 'vector-norm'),
      ...composite('histogram*', 'reduction', 'statistics'),
    ],
  ],
  [
    'indexing',
    [...cpu('advanced-index', 'embedding', 'index-fill', 'indexing', 'padding', 'scatter'), ...composite('embedding', 'sparse')],
  ],
  ['images', [...cpu('detection', 'grid-sample', 'upsample'), ...composite('upsample')]],
  ['recurrent', composite('packed-sequence', 'recurrent-weights', 'rnn*')],
  ['signals', [...cpu('fourier', 'spectral'), ...composite('fourier', 'istft', 'window')]],
  [
    'linalg',
    [
      ...cpu('decompose', 'distance', 'eigen', 'factor/*', 'householder', 'ldl', 'linalg', 'solve-info'),
      ...composite('decompose', 'einsum', 'linalg', 'lu', 'trilinear'),
    ],
  ],
  ['random', [...cpu('random*', 'sobol'), ...composite('random')]],
  ['losses', [...cpu('loss'), ...composite('gradient', 'loss', 'margin-loss')]],
  ['quantized', ['runtime/backends/quantized-cpu/*', ...cpu('fake-quantize', 'quantize'), ...composite('quantized-rnn')]],
  ['values', ['runtime/backends/builtin/*']],
  ['others', ['runtime/backends/cpu/*', 'runtime/backends/composite/*']],
]

const compiler = (...names: string[]): string[] => names.map((name) => `compiler/${name}.ts`)

export const PARTS: readonly Part[] = [
  { name: 'worker', files: ['engine/background/worker.ts'], needs: ['model', 'operators', 'background', 'recording'] },
  // `out` variants of operators that native functions have without
  { name: 'derived', files: ['runtime/operators/generated/derived.ts'], needs: ['operators'] },
  {
    // the table of all operators; usual ones have one among what native functions share
    name: 'table',
    files: ['decode-schema', 'lookup', 'generated/table', 'generated/functions', 'generated/schemas'].map(
      (name) => `runtime/operators/${name}.ts`,
    ),
    needs: ['operators'],
  },
  {
    // files of bytecode version 4 and 5
    name: 'old-files',
    files: [
      ...['argument-counts', 'code-reading', 'value-kinds'].map((name) => `program/${name}.ts`),
      'runtime/operators/generated/argument-history.ts',
    ],
    needs: ['model', 'operators'],
  },
  {
    // what native functions share
    name: 'operators',
    files: [
      ...['derive', 'fill-defaults', 'generated/*', 'missing-operator', 'packed', 'registry', 'schema*'].map(
        (name) => `runtime/operators/${name}.ts`,
      ),
      ...['generated/*', 'called', '*/index', 'support/*', 'cpu/support/*'].map((name) => `runtime/backends/${name}.ts`),
      'runtime/shapes/*.ts',
    ],
    needs: [],
  },
  ...FAMILIES.map(([name, files]) => ({ name, files, needs: ['operators'] })),
  // lists, tuples and dicts that callers pass and get
  { name: 'containers', files: ['runtime/tensor/rebuild.ts', 'src/convert-containers.ts'], needs: [] },
  // debugging
  { name: 'guard', files: ['runtime/native/guard.ts'], needs: [] },
  {
    name: 'runtime',
    files: ['program/reach.ts', 'engine/interpreter/profile.ts'],
    needs: [],
  },
  { name: 'flatbuffers', files: ['formats/containers/flatbuffer/*'], needs: ['files'] },
  { name: 'ff-files', files: ['formats/ff/*'], needs: ['flatbuffers', 'files', 'model'] },
  {
    // what all loaded models need
    name: 'files',
    files: [
      ...['program/file-error.ts', 'formats/reading/nesting.ts', 'formats/containers/zip/*'],
      ...['bytes', 'opened-file', 'value-budget'].map((name) => `formats/containers/${name}.ts`),
      ...['formats/registry.ts', 'formats/ptlc/magic.ts'],
      'engine/open.ts',
      ...['compiler/record/signature.ts', 'src/call-options.ts', 'src/fit.ts', 'engine/pass-options.ts'],
    ],
    needs: [],
  },
  {
    // recording what a method does
    name: 'recording',
    files: compiler(
      ...['attribute-names', 'guards', 'operator-kinds', 'recorder'].map((name) => `record/${name}`),
      'graph/graph',
      'generated/operator-facts',
    ),
    needs: ['operators', 'files', 'model'],
  },
  {
    // methods that are compiled in pieces, and that change their module
    name: 'regions',
    files: [...compiler('record/region*', 'record/state-signature', 'record/template', 'regions/*'), 'engine/interpreter/activation.ts'],
    needs: ['operators', 'files', 'model', 'recording'],
  },
  {
    // .ptlc files
    name: 'compiled-files',
    files: [
      'formats/ptlc/*',
      ...compiler('frames/*'),
      'runtime/native/generated/extents.ts',
      ...['plan-engine', 'load-plans', 'original'].map((name) => `engine/${name}.ts`),
    ],
    needs: ['plans', 'files', 'flatbuffers'],
  },
  {
    // loading, interpreting, and what there is of a method's compilation
    name: 'model',
    files: [
      ...['formats/*', 'program/*', 'engine/interpreter/*', 'runtime/native/budget.ts'],
      ...compiler('call', 'entry', 'index', 'plan-info', 'signature-list', 'tier', 'record/*', 'graph/shared-constants', 'passes/pass'),
      ...['interpreting-engine', 'load-program', 'open-program', 'program-engine'].map((name) => `engine/${name}.ts`),
    ],
    needs: ['operators', 'files'],
  },
  {
    // running what was compiled
    name: 'plans',
    files: [...compiler('capture/frame-layout', 'capture/result', 'executor/*', 'memory/*'), 'runtime/native/generated/layouts.ts'],
    needs: [],
  },
  { name: 'compiler', files: ['compiler/*'], needs: ['model', 'operators', 'plans', 'files', 'recording'] },
  { name: 'background', files: ['engine/background/*'], needs: ['model', 'plans', 'recording'] },
  { name: 'tracing', files: ['selective-build/trace/*', 'src/tracing.ts', 'runtime/native/generated/kernel-fields.ts'], needs: ['model'] },
]

/** The part that importing the package loads. */
export const FIRST = 'runtime'
