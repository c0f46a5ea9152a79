/** Operators on the parameters and integers of quantized tensors, which serve plain tensors too (mostly to refuse them). */
export {
  dequantize_self,
  dequantize_tensors,
  int_repr,
  q_per_channel_axis,
  q_per_channel_scales,
  q_per_channel_zero_points,
  q_scale,
  q_zero_point,
  qscheme,
} from '../cpu/quantize.js'
