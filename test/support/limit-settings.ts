import type { LimitSettings } from '../../src/domain/limits/admission.ts'

/** The limit settings of the default configuration. */
export const limitSettings: LimitSettings = { leaseMs: 30_000, holdMs: 900_000, countRejectedIn: 'key' }
