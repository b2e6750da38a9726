import type { GatewayConfiguration } from '../gateway-config/configuration.ts'
import type { RecordedOutcome } from './recorded-outcomes.ts'

/**
 * The configuration for kept texts. These do not tell results of tools and documents from the text of users, so all of them are
 * treated as the places were in which prompt injections were found.
 */
export function withModeOfFoundPlaces(
  config: GatewayConfiguration,
  outcomes: readonly RecordedOutcome[],
): GatewayConfiguration {
  const found = outcomes.find(({ check }) => check === 'prompt_injection')
  if (found === undefined) return config
  const { rules } = config
  const mode = found.isEnforced === true ? 'block' : 'monitor'
  return { ...config, rules: { ...rules, prompt_injection: { ...rules.prompt_injection, user_text: mode } } }
}
