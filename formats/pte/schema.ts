/** Field numbers of the tables of ExecuTorch's schemas (program.fbs, flat_tensor.fbs, bundled_program_schema.fbs), in their order. A union takes two: its kind and its value. */
export const Field = {
  program: {
    version: 0,
    plans: 1,
    constantBuffer: 2,
    delegateData: 3,
    segments: 4,
    constantSegment: 5,
    mutableSegments: 6,
    namedData: 7,
  },
  plan: { name: 0, containers: 1, values: 2, inputs: 3, outputs: 4, chains: 5, operators: 6, delegates: 7, bufferSizes: 8 },
  containers: { inputs: 0, outputs: 1 },
  value: { kind: 0, value: 1 },
  /** Int, Bool, Double, String and the lists have one field. */
  single: { value: 0 },
  tensor: {
    scalarType: 0,
    storageOffset: 1,
    sizes: 2,
    dimOrder: 3,
    dataIndex: 5,
    allocation: 6,
    dynamism: 8,
    extra: 9,
  },
  allocation: { memory: 0, offsetLow: 1, offsetHigh: 2 },
  extra: { mutableSegment: 0, name: 1, location: 2 },
  chain: { inputs: 0, outputs: 1, instructions: 2 },
  operator: { name: 0, overload: 1 },
  instruction: { kind: 0, value: 1 },
  kernelCall: { operator: 0, args: 1 },
  delegateCall: { delegate: 0, args: 1 },
  move: { from: 0, to: 1 },
  jump: { condition: 0, destination: 1 },
  delegate: { id: 0, processed: 1 },
  processed: { location: 0, index: 1 },
  /** Buffer, BackendDelegateInlineData. */
  bytes: { data: 0 },
  segment: { offset: 0, size: 1 },
  subsegments: { segment: 0, offsets: 1 },
  namedData: { key: 0, segment: 1 },
  flatTensor: { version: 0, segments: 1, namedData: 2 },
  bundle: { version: 0, suites: 1, program: 2 },
  suite: { method: 0, cases: 1 },
  testCase: { inputs: 0, outputs: 1 },
  bundledTensor: { scalarType: 0, sizes: 1, data: 2, dimOrder: 3 },
} as const

/** Members of the union of values. */
export const ValueKind = {
  none: 1, int: 2, bool: 3, double: 4, tensor: 5, string: 6, intList: 7, doubleList: 8, boolList: 9, tensorList: 10, optionalTensorList: 11,
} as const // prettier-ignore

/** Members of the union of instructions. */
export const InstructionKind = { kernel: 1, delegate: 2, move: 3, jumpFalse: 4, free: 5 } as const

/** Members of the union of a bundled program's values. */
export const BundledKind = { tensor: 1, int: 2, bool: 3, double: 4 } as const

/** TensorShapeDynamism. */
export const Dynamism = { fixed: 0, bound: 1, unbound: 2 } as const

/** Where something is: DataLocation of delegates, TensorDataLocation. */
export const Location = { inline: 0, segment: 1, external: 1 } as const
