import type { LimitSettings } from '../../src/domain/limits/admission.ts'

/** As an app with the usual configuration has them. */
export const limitSettings: LimitSettings = { leaseMs: 30_000, holdMs: 900_000, countRejectedIn: 'key' }
