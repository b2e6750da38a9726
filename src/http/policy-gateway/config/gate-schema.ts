import Type, { type Static } from 'typebox'
import type { GateReport } from '../../../domain/gate/outcome.ts'
import { integer, text } from '../../described.ts'
import { idText } from '../../resources/fields.ts'
import { gateRunExample, gateRunExampleId, gateRunFields, gateRunFieldsOf, gateRunStale } from '../../resources/gate.ts'
import { GivenConfigurationBody } from '../../resources/gateway-configuration.ts'
import { listOf, pageExample } from '../../resources/list.ts'

export const StartGatewayRun = Type.Object(
  { config: GivenConfigurationBody },
  {
    title: 'GatewayGateRunCreate',
    additionalProperties: false,
    examples: [{ config: { rules: { denylist: ['project x'] } } }],
  },
)

export const GatewayRunParams = Type.Object({ gate_run_id: idText('The run.', gateRunExampleId) })

const example = {
  id: gateRunExampleId,
  object: 'policy_gateway.gate_run',
  version: 3,
  config_digest: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  stale: false,
  ...gateRunExample,
}

export const GatewayRunObject = Type.Object(
  {
    id: text('The id of the run.'),
    object: Type.Literal('policy_gateway.gate_run'),
    version: integer('The version of the configuration that was in force when it was started.'),
    config_digest: text('SHA-256 of the configuration with every field. A save of any other one is not covered.'),
    stale: gateRunStale('the cases have'),
    ...gateRunFields,
  },
  { title: 'GatewayGateRun', examples: [example] },
)

export const GatewayRunList = listOf('GatewayGateRunList', GatewayRunObject, pageExample(example))

export type GatewayRunBody = Static<typeof GatewayRunObject>

export const presentGatewayRun = (report: GateReport): GatewayRunBody => ({
  id: report.run.id,
  object: 'policy_gateway.gate_run',
  version: report.run.revision,
  config_digest: report.run.digest.split('.', 1).join(''),
  stale: report.isStale,
  ...gateRunFieldsOf(report),
})
