import { createContext, use, useId } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { decisionName } from '../../kit/decision-badge.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { chosenIn, isSecret, splitFields, valuesOf, type FieldSchema, type Values } from './sink-schema.ts'
import styles from './sink-dialog.module.css'

const text = words.sinks

/** The error of the last attempt to save. Its field shows it. */
const ErrorContext = createContext<unknown>(null)

type FormProps = {
  readonly schema: FieldSchema
  readonly values: Values
  readonly onChange: (values: Values) => void
  readonly error: unknown
}

/** The form of a configuration, made from its schema. What is optional follows on demand. */
export function SchemaForm({ schema, values, onChange, error }: FormProps) {
  const { shown, further } = splitFields(schema, values)
  const isFurtherWrong = further.some(([name]) => errorOfField(error, `config.${name}`) !== undefined)
  return (
    <ErrorContext value={error}>
      <Fields fields={shown} required={schema.required} path="config" values={values} onChange={onChange} />
      {further.length > 0 && (
        <details className={styles.further} open={isFurtherWrong || undefined}>
          <summary>{text.further}</summary>
          <div className={styles.fields}>
            <Fields fields={further} required={[]} path="config" values={values} onChange={onChange} />
          </div>
        </details>
      )}
    </ErrorContext>
  )
}

type FieldsProps = {
  readonly fields: readonly (readonly [string, FieldSchema])[]
  readonly required: readonly string[] | undefined
  readonly path: string
  readonly values: Values
  readonly onChange: (values: Values) => void
}

const Fields = ({ fields, required = [], path, values, onChange }: FieldsProps) =>
  fields.map(([name, schema]) => (
    <SchemaField
      key={name}
      schema={schema}
      name={name}
      path={`${path}.${name}`}
      isRequired={required.includes(name)}
      value={values[name]}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ))

type FieldProps = {
  readonly schema: FieldSchema
  readonly name: string
  /** As the server names the field in errors, such as `config.auth.password`. */
  readonly path: string
  readonly isRequired: boolean
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function SchemaField(props: FieldProps) {
  const { schema } = props
  if (schema.anyOf || schema.properties) return <Group {...props} />
  if (schema.items?.enum) return <Choices {...props} options={schema.items.enum} />
  return <Input {...props} />
}

/** An object, or one of several objects that `type` distinguishes. */
function Group({ schema, name, path, value, onChange }: FieldProps) {
  const object = schema.anyOf ? chosenIn(schema, value) : schema
  const { shown, further } = splitFields(object ?? {})
  const types = schema.anyOf?.map(({ properties }) => properties?.['type']?.const ?? '') ?? []
  const type = object?.properties?.['type']?.const
  return (
    <fieldset className={styles.group}>
      <legend>{labelOf(name)}</legend>
      <p>{plain(schema.description)}</p>
      {types.length > 0 && (
        <Field label={text.signInWith}>
          {(input) => (
            <select {...input} value={type} onChange={(event) => onChange({ type: event.target.value })}>
              {types.map((option) => (
                <option key={option} value={option}>
                  {text.authTypes[option] ?? option}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Fields
        fields={[...shown, ...further]}
        required={object?.required}
        path={path}
        values={valuesOf(value)}
        onChange={(values) => onChange(type === undefined ? values : { ...values, type })}
      />
    </fieldset>
  )
}

/** Any of some values. */
function Choices({ schema, name, value, onChange, options }: FieldProps & { readonly options: readonly string[] }) {
  const id = useId()
  const chosen = Array.isArray(value) ? value : []
  return (
    <fieldset className={styles.group} aria-describedby={id}>
      <legend>{labelOf(name)}</legend>
      <p id={id}>{plain(schema.description)}</p>
      <div className={styles.choices}>
        {options.map((option) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, option] : chosen.filter((each) => each !== option))
              }
            />
            {name === 'decisions' ? decisionName(option) : option}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function Input({ schema, name, path, isRequired, value, onChange }: FieldProps) {
  const error = atField(errorOfField(use(ErrorContext), path), path)
  const hint = plain(schema.description)
  const options =
    schema.type === 'boolean' ? booleans : schema.enum?.map((option) => [option, optionOf(name, option)] as const)
  const written = Array.isArray(value) ? value.join('\n') : String(value ?? '')
  if (options)
    return (
      <Field label={labelOf(name)} hint={hint} error={error}>
        {(input) => (
          <select
            {...input}
            value={written}
            onChange={({ target }) => onChange(schema.type === 'boolean' ? booleanOf(target.value) : target.value)}
          >
            {!(name in text.options) && <option value="">{isRequired ? '' : text.defaultChoice}</option>}
            {options.map(([option, title]) => (
              <option key={option} value={option}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    )
  const isList = schema.type === 'array'
  if (isList || isLong(schema))
    return (
      <Field label={labelOf(name)} hint={isList ? `${hint} ${text.oneEachLine}` : hint} error={error}>
        {({ className = '', ...input }) => (
          <textarea
            {...input}
            className={`${className} ${styles.lines}`}
            rows={3}
            spellCheck={false}
            value={written}
            onChange={({ target }) =>
              onChange(
                isList
                  ? target.value.split('\n').filter((line, at, all) => line !== '' || at === all.length - 1)
                  : target.value,
              )
            }
          />
        )}
      </Field>
    )
  return (
    <Field label={labelOf(name)} hint={hint} error={error}>
      {(input) => (
        <input
          {...input}
          // A secret that is shown masked can be read: it has only the last characters.
          type={isSecret(schema) && !written.startsWith('•') ? 'password' : 'text'}
          autoComplete="off"
          spellCheck={false}
          placeholder={isSecret(schema) ? '' : String(schema.examples?.[0] ?? '')}
          value={written}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

const booleans = [
  ['true', text.yes],
  ['false', text.no],
] as const

const booleanOf = (value: string): boolean | undefined => (value === '' ? undefined : value === 'true')

const isLong = ({ examples }: FieldSchema): boolean => String(examples?.[0] ?? '').includes('\n')

const labelOf = (name: string): string =>
  text.fields[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

const optionOf = (name: string, option: string): string => text.options[name]?.[option] ?? option

/** The message beside its field: `config.secret: must have …` as `Must have …`. */
function atField(message: string | undefined, path: string): string | undefined {
  if (message === undefined || !message.startsWith(`${path}: `)) return message
  const own = message.slice(path.length + 2)
  return own.charAt(0).toUpperCase() + own.slice(1)
}

/** Descriptions mark names as code; inputs show them as plain text. */
const plain = (description = ''): string => description.replaceAll('`', '').replace(' Masked in answers.', '')
