import { createAddressGuard, type AddressGuard } from '../adapters/network/address-guard.ts'
import { createSinkAddressCheck } from '../adapters/sinks/address-check.ts'
import { ConfigError, type Config } from '../config/config.ts'
import type { FindSinkAddressProblem } from '../domain/audit/export/sink.ts'

export type SinkAddressSettings = Pick<Config['exports'], 'allow_addresses'>

/** Which addresses export sinks may use: `findProblem` is for administration, `guard` for delivery. */
export function createSinkAddressRules({ allow_addresses: allowNetworks }: SinkAddressSettings): {
  readonly guard: AddressGuard
  readonly findProblem: FindSinkAddressProblem
} {
  try {
    return { guard: createAddressGuard({ allowNetworks }), findProblem: createSinkAddressCheck({ allowNetworks }) }
  } catch (error) {
    throw new ConfigError([`exports.allow_addresses: ${error instanceof Error ? error.message : String(error)}`])
  }
}
