/** Models of pages have no files beside them, so it does not matter whether one is still the original. */
export function differenceOf(): null {
  return null
}

export function quickDifferenceOf(): null {
  return null
}
