/** The error of a structured clone names the value that has none. */
export const UNCLONEABLE: symbol | null = /* @__PURE__ */ Symbol(
  'a Tensor: clone or post tensor.detach(), and make a tensor of it by Tensor.from(). It',
)
