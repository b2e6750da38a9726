import Type, { type Static } from 'typebox'
import { defaultConfiguration } from '../../../domain/gateway-config/configuration.ts'
import { isoTime, orNull } from '../../resources/fields.ts'
import {
  Configuration,
  GivenConfigurationBody,
  givenConfigurationFields,
} from '../../resources/gateway-configuration.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { gateOverride, gateRun } from '../../resources/gate.ts'

const strict = { additionalProperties: false }

const given = {
  policy_id: 'default-rules',
  name: 'Default rules',
  rules: { denylist: ['project x', '/\\bACME-\\d{4}\\b/'], redact: true, flagged_categories: ['hate', 'illicit'] },
  rollout: { canary: { enabled: true, sample_percent: 10 } },
}

/** A configuration, or one under the key `config`. */
export const SaveBody = Type.Partial(
  Type.Object({
    ...givenConfigurationFields,
    config: GivenConfigurationBody,
    gate_run: gateRun,
    override: gateOverride,
  }),
  {
    title: 'GatewayConfigSave',
    ...strict,
    examples: [given],
  },
)

const example = {
  ...defaultConfiguration,
  ...given,
  rules: { ...defaultConfiguration.rules, ...given.rules },
  rollout: {
    ...defaultConfiguration.rollout,
    canary: { ...defaultConfiguration.rollout.canary, ...given.rollout.canary },
  },
}

export const PreviewAnswer = Type.Object(Configuration.properties, {
  title: 'GatewayConfigPreview',
  description: 'The configuration with every field.',
  additionalProperties: false,
  examples: [example],
})

export const ConfigurationWarnings = Type.Array(
  Type.Object(
    {
      code: Type.String({ description: '`rewrite_without_judge`: texts that would be rewritten are refused.' }),
      message: Type.String({ description: 'What has no effect, and what to do.' }),
    },
    { title: 'GatewayConfigWarning' },
  ),
  { description: 'Settings of the configuration that have no effect in this service.' },
)

export const SavedAnswer = Type.Object(
  {
    config: Configuration,
    version: Type.Integer({ description: 'Number of saves; 0 before the first.' }),
    rolled_back: Type.Boolean({
      description: 'Whether it is disabled after a denial spike. The next save enables it again.',
    }),
    created_at: orNull(isoTime('When the first configuration was saved; null before that.')),
    updated_at: orNull(isoTime('When this one was saved.')),
    managed_by: managedBy,
    warnings: ConfigurationWarnings,
  },
  {
    title: 'SavedGatewayConfig',
    examples: [
      {
        config: example,
        version: 1,
        rolled_back: false,
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
        warnings: [],
      },
    ],
  },
)

export const VersionQuery = listQuery({})

const versionExample = {
  id: 'gwcv_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'policy_gateway.config_version',
  version: 1,
  config: example,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
}

export const VersionList = listOf(
  'GatewayConfigVersionList',
  Type.Object(
    {
      id: Type.String({ description: 'The id of the version.' }),
      object: Type.Literal('policy_gateway.config_version'),
      version: Type.Integer({ description: 'Number of the save: 1, 2, 3 …' }),
      config: Configuration,
      created_at: isoTime('When it was saved.'),
      created_by: orNull(
        Type.String(),
        'The id of the key or member who saved it; null for versions from before authors were recorded.',
      ),
    },
    { title: 'GatewayConfigVersion' },
  ),
  pageExample(versionExample),
)

export type ConfigurationBody = Static<typeof SavedAnswer>
