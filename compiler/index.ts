export { type CompileMode, type PlanInfo, TieredModule } from './tier.js'
export type { PassOptions } from './passes/pass.js'
