/** Field numbers of the tables of XNNPACK's graphs (serialization/schema.fbs), in their order. A union takes two: its kind and its value. */
export const Field = {
  graph: { version: 0, nodes: 1, values: 2, constantBuffer: 6, constantData: 8 },
  buffer: { storage: 0 },
  constant: { offset: 0, size: 1, key: 2 },
  value: { kind: 0, value: 1 },
  quantizedValue: { tensor: 0, parameters: 1, parametersValue: 2 },
  tensor: { dtype: 0, dims: 2, constant: 3, external: 4, flags: 5, id: 6, dynamicDtype: 7 },
  perChannel: { scales: 0, channelDim: 1, constant: 2, count: 3 },
  perTensor: { scale: 0, zeroPoint: 1 },
  perToken: { dims: 0 },
  perGroup: { scales: 0, channelDim: 1, groupSize: 2, constant: 4, count: 5 },
  node: { kind: 0, value: 1, range: 3 },
  range: { min: 0, max: 1 },
  unary: { input: 0, output: 1, flags: 2 },
  binary: { first: 0, second: 1, output: 2, flags: 3 },
  join: { axis: 0, first: 1, second: 2, third: 3, fourth: 4, output: 5, fifth: 7 },
  transpose: { order: 1, input: 2, output: 3 },
  resize: { height: 0, width: 1, input: 2, output: 3, flags: 4 },
  pad: { before: 0, after: 1, value: 2, input: 3, output: 4 },
  elu: { alpha: 0, input: 1, output: 2 },
  linear: { input: 0, filter: 1, bias: 2, output: 3, flags: 4 },
  convolution: {
    top: 0, right: 1, bottom: 2, left: 3, kernelHeight: 4, kernelWidth: 5, strideHeight: 6, strideWidth: 7, dilationHeight: 8, dilationWidth: 9,
    groupInputs: 10, groupOutputs: 11, groups: 12, adjustmentHeight: 13, adjustmentWidth: 14, input: 15, filter: 16, bias: 17, output: 18,
  },
  pool: {
    top: 0, right: 1, bottom: 2, left: 3, height: 4, width: 5, strideHeight: 6, strideWidth: 7, dilationHeight: 8, dilationWidth: 9, input: 10, output: 11,
  },
  reshape: { sizes: 1, input: 2, output: 3 },
  slice: { offsets: 1, sizes: 2, input: 3, output: 4 },
  attention: { query: 0, key: 1, value: 2, scale: 3, mask: 4, output: 5 },
} as const // prettier-ignore

/** Members of the union of nodes, from 1. */
export const NODES = [
  '', 'Add', 'FullyConnected', 'Softmax', 'Sigmoid', 'StaticTranspose', 'Clamp', 'Conv2d', 'Div', 'StaticResizeBilinear2D', 'StaticConstantPad',
  'AvgPooling2d', 'Minimum', 'DepthwiseConv2d', 'MaxPooling2d', 'Multiply', 'Subtract', 'Floor', 'Convert', 'GlobalAvgPooling2d', 'StaticReshape',
  'ArgMaxPooling2d', 'SquareRoot', 'Ceiling', 'Hardswish', 'LeakyReLU', 'Maximum', 'Negate', 'Square', 'ELU', 'Abs', 'PReLU', 'Concatenate2',
  'Concatenate3', 'Concatenate4', 'StaticSlice', 'ScaledDotProductAttention', 'BatchMatrixMultiply', 'Concatenate5', 'ConvTranspose2d',
  'ReciprocalSquareRoot', 'Log', 'Gelu', 'Tanh', 'Exp', 'Sin', 'Copy', 'Cos',
] as const // prettier-ignore

export type NodeKind = (typeof NODES)[number]

/** XNNDatatype. */
export const Datatype = {
  fp32: 1, fp16: 2, qint8: 3, quint8: 4, qint32: 5, qcint8: 6, qcint32: 7, qcint4: 8, qdint8: 9, qbint4: 10, qpint8: 11, int32: 12, pfp32: 13, bf16: 14,
} as const // prettier-ignore

/** Members of the unions of values and of quantization parameters. */
export const ValueUnion = { plain: 1, quantized: 2 } as const
export const Parameters = { perChannel: 1, perTensor: 2, perToken: 3, perGroup: 4 } as const

export const Flag = { input: 1, output: 2 } as const
/** An id that is none. */
export const NO_ID = 2 ** 32 - 1
