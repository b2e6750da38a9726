import type { components } from '../api/schema.d.ts'
import type { Tone } from './badge.tsx'

type State = components['schemas']['Overview']['sinks'][number]['state']

/** How the state of a sink is shown. */
export const sinkTones: Record<State, Tone> = {
  healthy: 'allow',
  retrying: 'warning',
  throttled: 'warning',
  auth_error: 'error',
  config_error: 'error',
  disabled: 'none',
}
