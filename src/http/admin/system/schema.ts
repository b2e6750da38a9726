import Type, { type Static } from 'typebox'
import { findingStates } from '../../../domain/system/system.ts'
import { flag, integer, text } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

const settingExample = {
  key: 'server.port',
  value: 8080,
  is_hidden: false,
  origin: 'environment',
  variable: 'GATEHOUSE_PORT',
  is_reloaded: false,
  description: 'Port of the API and its reference.',
}

const SettingObject = Type.Object(
  {
    key: text('Its path in the configuration.'),
    value: orNull(
      Type.Union([scalar, Type.Array(scalar)]),
      'The value; null if it is not set, or hidden. Of the URLs of upstreams only the host is shown.',
    ),
    is_hidden: flag('Whether the value is set and not shown, because it is or may contain a secret.'),
    origin: Type.Enum(['default', 'file', 'environment'], { description: 'Where the value comes from.' }),
    variable: orNull(Type.String(), 'The variable of the environment that it comes from; null for other origins.'),
    is_reloaded: flag('Whether it is read again from a file while the server runs. Other values need a restart.'),
    description: text('What it does.'),
  },
  { title: 'SystemSetting' },
)

const FindingObject = Type.Object(
  {
    part: text('The part of the installation.'),
    state: Type.Enum([...findingStates], { description: '`ok`, `warning`, or `wrong`: it prevents requests.' }),
    message: text('What was found.'),
    fix: orNull(Type.String(), 'What to do about it.'),
  },
  { title: 'SystemFinding' },
)

export const SystemObject = Type.Object(
  {
    object: Type.Literal('organization.system'),
    version: text('The version of the server.'),
    runtime: text('The version of Node.'),
    node: Type.Object(
      {
        id: text('The id of the node. It changes when the node restarts.'),
        host: text(
          'The name of its machine, with the number of the worker if there are several, such as `gateway-1/2`.',
        ),
        started_at: unixTime('When it started.'),
      },
      { description: 'The node that answered.' },
    ),
    nodes: Type.Object(
      {
        count: integer('How many nodes share the database and are alive.'),
        ids: Type.Array(Type.String(), { description: 'Their ids. Ask each node for its own version and settings.' }),
      },
      { description: 'The nodes of the installation.' },
    ),
    storage: Type.Enum(['embedded', 'postgresql'], { description: 'The storage engine.' }),
    limits: text('Where rate limits are counted.'),
    configuration_file: orNull(Type.String(), 'The configuration file, as the server was given it; null without one.'),
    settings: Type.Array(SettingObject, { description: 'The effective configuration of this node, without secrets.' }),
    findings: Type.Array(FindingObject, {
      description: 'What this node found when it checked itself for this response.',
    }),
  },
  {
    title: 'System',
    examples: [
      {
        object: 'organization.system',
        version: '0.1.0',
        runtime: '26.10.0',
        node: { id: 'node_01k9z8y7x6w5v4t3s2r1q0p9n8', host: 'gateway-1', started_at: 1_767_225_600 },
        nodes: { count: 1, ids: ['node_01k9z8y7x6w5v4t3s2r1q0p9n8'] },
        storage: 'embedded',
        limits: 'counted in this process',
        configuration_file: './gatehouse.yaml',
        settings: [settingExample],
        findings: [{ part: 'storage', state: 'ok', message: 'it works', fix: null }],
      },
    ],
  },
)

export type SystemBody = Static<typeof SystemObject>
