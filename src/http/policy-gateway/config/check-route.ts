import { createValidator } from '../../validate.ts'
import type { Route } from '../../route.ts'
import type { GatewayParts } from '../parts.ts'
import { Configuration, GivenConfigurationBody } from '../../resources/gateway-configuration.ts'

/** For the operator: returns a configuration as a save would store it, and saves nothing. */
export function configCheckRoute({ configurations }: Pick<GatewayParts, 'configurations'>): Route {
  const readGiven = createValidator(GivenConfigurationBody)
  return {
    name: 'checkGatewayConfig',
    method: 'POST',
    path: '/operator/gateway_config/check',
    summary: 'Check a gateway configuration',
    credential: 'operator',
    bodyLimitBytes: 1024 * 1024,
    body: GivenConfigurationBody,
    answers: { 200: { description: 'The configuration with all defaults.', schema: Configuration } },
    errorStatuses: [400, 413, 422, 500],
    handle: async (request) => configurations.check(readGiven(request.body ?? {})),
  }
}
