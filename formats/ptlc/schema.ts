/** Field numbers of the tables in plan.fbs, in its order. */
export const Field = {
  kernel: { name: 0, hash: 1, level: 2 },
  quantization: { axis: 0, scales: 1, zeroPoints: 2, fractions: 3 },
  tensor: { kind: 0, index: 1, offset: 2, shape: 3, strides: 4, dtype: 5, quantization: 6, same: 7, again: 8 },
  value: { kind: 0, integer: 1, number: 2, text: 3, items: 4, keys: 5, fields: 6, tensor: 7 },
  argument: { name: 0, type: 1, defaultValue: 2 },
  method: { name: 0, arguments: 1 },
  plan: {
    method: 0,
    arguments: 1,
    kernels: 2,
    frames: 3,
    pointers: 4,
    hostFrames: 5,
    hostSizes: 6,
    hostData: 7,
    buffers: 8,
    written: 9,
    result: 10,
    lowerBound: 11,
    naive: 12,
    recorded: 13,
    optimized: 14,
    sparse: 15,
    states: 16,
    kept: 17,
    lastRow: 18,
  },
  state: { name: 0, slots: 1, tensor: 2 },
  sparse: { constant: 0, blocks: 1, width: 2, n: 3, k: 4, dtype: 5, rows: 6, form: 7, hasBias: 8, ops: 9, access: 10, numbers: 11 },
  missing: { operator: 0, methods: 1 },
  unplanned: { method: 0, signature: 1, reason: 2 },
  module: {
    library: 0,
    level: 1,
    original: 2,
    sha256: 3,
    bytecodeVersion: 4,
    operatorVersion: 5,
    operators: 6,
    kernels: 7,
    methods: 8,
    constants: 9,
    plans: 10,
    levels: 11,
    originalBytes: 12,
    fingerprint: 13,
    unplanned: 14,
    sparse: 15,
    trainingSet: 16,
    inTraining: 17,
    trainingLayers: 18,
    missing: 19,
    weights: 20,
    weightGroup: 21,
    activations: 22,
    kvCache: 23,
    states: 24,
    memories: 25,
  },
} as const

/** What a Value is. */
export const ValueKind = {
  none: 0,
  bool: 1,
  int: 2,
  float: 3,
  string: 4,
  tensor: 5,
  list: 6,
  tuple: 7,
  dict: 8,
  device: 9,
  complex: 10,
} as const

/** What a tensor or an address belongs to, by number. */
export const TARGET_KINDS = ['input', 'buffer', 'constant'] as const

/** Numbers in a row of Plan.pointers, Plan.buffers, Module.constants, Plan.sparse. */
export const POINTER_ROW = 5
export const BUFFER_ROW = 2
export const CONSTANT_ROW = 2
export const SPARSE_ROW = 2
