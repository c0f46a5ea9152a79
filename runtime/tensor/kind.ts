/** The property by which tensors say what they are: `kindOf` serves their class, which it must not import. */
export const KIND = /* @__PURE__ */ Symbol('kind')
