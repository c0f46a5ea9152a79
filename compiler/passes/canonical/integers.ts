import { isDecomposed } from '../analysis.js'
import { onIntegers } from '../integers/rewriter.js'
import type { Pass } from '../pass.js'
import { deadCode } from './dead-code.js'

/**
 * Computes on integers what a program says of floats between `dequantize` and `quantize`, as `torch.ao`'s quantization of exported programs
 * leaves it: convolutions and linear layers with weights of 8 bits, sums, products, joins, averages, and whatever moves elements.
 *
 *     %2 = quantized_decomposed::dequantize_per_tensor(%1, 0.02, 3, ...)                %2: quint8 ... quant 0.02 3
 *     %3 = quantized_decomposed::dequantize_per_channel(%weight, %scales, ...)
 *     %4 = aten::conv2d(%2, %3, %bias, ...)                                         →   %6 = quantized::conv2d_relu.new(%2, #0, 0.05, 0)
 *     %5 = aten::relu(%4)
 *     %6 = quantized_decomposed::quantize_per_tensor(%5, 0.05, 0, 0, 255, uint8)
 *
 * Results are those of the `quantized::` operators, which differ from those through floats by one step of the quantization at most.
 */
export const integers: Pass = {
  name: 'integers',
  run: (graph) => (graph.nodes.some(isDecomposed) ? deadCode.run(onIntegers(graph)) : graph),
}
