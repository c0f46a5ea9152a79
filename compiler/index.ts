export type { ArenaBuffer, ArenaUse } from './executor/arena.js'
export { type CompileMode, type PlanInfo, TieredModule } from './tier.js'
export { SharedConstants } from './graph/shared-constants.js'
export type { PassOptions } from './passes/pass.js'
