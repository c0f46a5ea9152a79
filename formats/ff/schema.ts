/** Field numbers of the tables in module.fbs, in its order. A union takes two: its kind and its value. */
export const Field = {
  module: {
    bytecodeVersion: 0,
    extraFiles: 1,
    methods: 2,
    state: 3,
    values: 4,
    storageCount: 5,
    storages: 6,
    objectTypes: 7,
    jitSources: 8,
    jitConstants: 9,
    operatorVersion: 10,
    mobileValues: 11,
  },
  value: { kind: 0, value: 1 },
  quantization: { scheme: 0, scale: 1, zeroPoint: 2, scales: 3, zeroPoints: 4, axis: 5 },
  tensor: { storage: 0, scalarType: 1, offset: 2, sizes: 3, strides: 4, quantization: 6 },
  text: { value: 0 },
  list: { items: 0, type: 1 },
  dict: { keys: 0, values: 1, type: 2 },
  object: { type: 0, state: 1, attributes: 2, setState: 3 },
  objectType: { name: 0, kind: 1, attributes: 2 },
  enumValue: { typeName: 0, value: 1 },
  operator: { name: 0, overload: 1, argumentCount: 2 },
  argument: { name: 0, type: 1, defaultValue: 2 },
  schema: { arguments: 0, returns: 1 },
  debug: { handles: 0 },
  function: { name: 0, instructions: 1, operators: 2, constants: 3, types: 4, registerSize: 5, schema: 6, debug: 7, classType: 8 },
  storage: { data: 0 },
  extraFile: { name: 0, content: 1 },
} as const

/** Members of the union of values. */
export const ValueKind = {
  none: 0, int: 1, bool: 2, double: 3, complex: 4, tensor: 5, string: 6, list: 7, tuple: 8, dict: 9, object: 10,
  intList: 11, doubleList: 12, boolList: 13, device: 14, enumValue: 15, function: 16,
} as const // prettier-ignore

/** What an object's class is. */
export const ObjectKind = { fields: 1, custom: 2, setState: 3 } as const

/** struct Instruction { op: int8; n: uint16; x: int32; } */
export const Instruction = { bytes: 8, op: 0, n: 2, x: 4 } as const
