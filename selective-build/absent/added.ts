import type * as whole from '../../runtime/operators/table/added.js'

export const addedCount: typeof whole.addedCount = () => 0
export const addedIndex: typeof whole.addedIndex = () => undefined
export const addedWhere: typeof whole.addedWhere = () => []
export const add: typeof whole.add = () => undefined
