/** A property that tensors alone have, false for what only has their prototype: `kindOf` serves their class, which it must not import. */
export const IS_TENSOR = /* @__PURE__ */ Symbol('isTensor')
