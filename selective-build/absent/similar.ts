import type * as whole from '../../runtime/operators/table/similar.js'

export const similarOperators: typeof whole.similarOperators = () => []
export { HOW_TO_EXTEND as HOW_TO_ADD } from '../../runtime/build.js'
