// What bench/isa.mjs times: one call per kernel family, on operands that stay in the caches of one core where the
// family is not about memory. `kernel` names the native kernel that does the work.
import { callOperator, tensor } from '../../dist/index.js'

/** Repeatable numbers in [-1, 1). */
function numbers(n, seed = 1) {
  let state = seed
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state / 0x40000000 - 1
  })
}

const count = (shape) => shape.reduce((a, b) => a * b, 1)
const floats = (shape, dtype = 'float32', seed = 1) => {
  const x = tensor(numbers(count(shape), seed), shape)
  return dtype === 'float32' ? x : callOperator('aten::to.dtype', [x, dtype])
}
const positive = (x) => callOperator('aten::add.Scalar', [callOperator('aten::abs', [x]), 0.5])
const quantized = (shape, scale, zero, dtype, seed) =>
  callOperator('aten::quantize_per_tensor', [floats(shape, 'float32', seed), scale, zero, dtype])
const always = (operator, args) => () => callOperator(operator, args).dispose()

/** Rows, columns and depth of the square products. */
const SIDE = 512
const LENGTH = 16384

function product(dtype) {
  return () => always('aten::mm', [floats([SIDE, SIDE], dtype), floats([SIDE, SIDE], dtype, 2)])
}

function elementwise(operator, dtype, operands) {
  return () =>
    always(
      operator,
      Array.from({ length: operands }, (_, i) => positive(floats([LENGTH], dtype, i + 1))),
    )
}

function conversion(from, to) {
  return () => always('aten::to.dtype', [floats([LENGTH], from), to])
}

// activations that use all 8 bits, or 7 as observers with a reduced range give them
function int8Product(scale, zero) {
  return () => {
    const weight = callOperator('quantized::linear_prepack', [quantized([SIDE, SIDE], 1 / 127, 0, 'qint8', 2), null])
    return always('quantized::linear', [quantized([SIDE, SIDE], scale, zero, 'quint8', 1), weight, 1, 128])
  }
}

function int8Convolution() {
  const pair = [1, 1]
  const weight = callOperator('quantized::conv2d_prepack', [quantized([128, 128, 3, 3], 1 / 127, 0, 'qint8', 2), null, pair, pair, pair, 1])
  return always('quantized::conv2d.new', [quantized([1, 128, 28, 28], 1 / 128, 128, 'quint8', 1), weight, 1, 128])
}

function convolution(dtype) {
  return () =>
    always('aten::conv2d', [floats([1, 128, 28, 28], dtype), floats([128, 128, 3, 3], dtype, 2), null, [1, 1], [1, 1], [1, 1], 1])
}

export const FAMILIES = [
  { name: 'product float32', kernel: 'gemm', make: product('float32') },
  { name: 'product float64', kernel: 'gemm', make: product('float64') },
  { name: 'product bfloat16', kernel: 'gemm', make: product('bfloat16') },
  { name: 'product 8-bit', kernel: 'quantized_gemm', make: int8Product(1 / 128, 128) },
  { name: 'product 8-bit, activations of 7 bits', kernel: 'quantized_gemm', make: int8Product(1 / 63, 63) },
  { name: 'convolution float32', kernel: 'conv', make: convolution('float32') },
  { name: 'convolution bfloat16', kernel: 'conv', make: convolution('bfloat16') },
  { name: 'convolution 8-bit', kernel: 'quantized_gemm', make: int8Convolution },
  { name: 'float32 to bfloat16', kernel: 'copy', make: conversion('float32', 'bfloat16') },
  { name: 'bfloat16 to float32', kernel: 'copy', make: conversion('bfloat16', 'float32') },
  { name: 'float32 to float16', kernel: 'copy', make: conversion('float32', 'float16') },
  { name: 'add float32', kernel: 'binary', make: elementwise('aten::add.Tensor', 'float32', 2) },
  { name: 'add float16', kernel: 'binary', make: elementwise('aten::add.Tensor', 'float16', 2) },
  { name: 'multiply float16', kernel: 'binary', make: elementwise('aten::mul.Tensor', 'float16', 2) },
  { name: 'divide float16', kernel: 'binary', make: elementwise('aten::div.Tensor', 'float16', 2) },
  { name: 'exp', kernel: 'unary', make: elementwise('aten::exp', 'float32', 1) },
  { name: 'tanh', kernel: 'unary', make: elementwise('aten::tanh', 'float32', 1) },
  { name: 'sum', kernel: 'reduce', make: elementwise('aten::sum', 'float32', 1) },
  { name: 'softmax', kernel: 'softmax', make: () => always('aten::softmax.int', [floats([32, 512]), -1]) },
  { name: 'layer norm', kernel: 'layer_norm', make: () => always('aten::layer_norm', [floats([32, 512]), [512]]) },
  { name: 'quantize', kernel: 'quantize', make: () => always('aten::quantize_per_tensor', [floats([LENGTH]), 1 / 128, 128, 'quint8']) },
]
