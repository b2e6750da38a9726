import Type from 'typebox'
import { orNull } from './fields.ts'

/** Where a model or an upstream is defined. */
export const DefinitionObject = Type.Object(
  {
    source: Type.Enum(['file', 'environment', 'built_in', 'organization'], {
      description:
        'The configuration file, a variable of the environment, the default of an empty configuration, or the organization, which added it through the API and can change it there.',
    }),
    file: orNull(
      Type.String(),
      'The configuration file, as the server was given it; null for the other sources, and where `administration.system_visible` is false.',
    ),
    key: orNull(Type.String(), 'The path in the file, or the variable; null for the other sources.'),
  },
  { description: 'Where it is defined.' },
)
