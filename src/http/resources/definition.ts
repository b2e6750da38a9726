import Type from 'typebox'
import { orNull } from './fields.ts'

/** Where the operator defined a model or an upstream. */
export const DefinitionObject = Type.Object(
  {
    source: Type.Enum(['file', 'environment', 'built_in'], {
      description: 'The configuration file, a variable of the environment, or the default of an empty configuration.',
    }),
    file: orNull(
      Type.String(),
      'The configuration file, as the server was given it; null for the other sources, and where `administration.system_visible` is false.',
    ),
    key: orNull(Type.String(), 'The path in the file, or the variable; null for what is built in.'),
  },
  { description: 'Where the operator defined it.' },
)
