import type { ReactNode } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { useMe } from '../../session/session.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { dayOf, type KeyDraft } from './key-draft.ts'
import { ModelPicker } from './model-picker.tsx'
import { useRoles, type Permission, type RoleName } from './queries.ts'
import styles from './key-fields.module.css'

const text = words.projects

/** Typed, so that a permission without a text is an error of the compiler. */
const permissionTexts: Record<Permission, string> = text.permissions
const adminPermissions = Object.keys(permissionTexts) as Permission[]
const apiKeyPermissions = ['gateway:read', 'gateway:write', 'exports:read', 'exports:write'] as const

type FieldsProps = {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  readonly error: unknown
  readonly isAdmin: boolean
  readonly isNew: boolean
  /** Stands below the name. */
  readonly children?: ReactNode
}

/** The fields that both kinds of key have. Only API keys have models. */
export function KeyFields({ draft, onChange, error, isAdmin, isNew, children }: FieldsProps) {
  const set = (changed: Partial<KeyDraft>): void => onChange({ ...draft, ...changed })
  return (
    <>
      <Field label={text.name} hint={text.nameHint} error={errorOfField(error, 'name')}>
        {(props) => (
          <input
            {...props}
            value={draft.name}
            required
            autoComplete="off"
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      {children}
      {!isAdmin && (
        <ModelPicker
          value={draft.models}
          error={errorOfField(error, 'models')}
          onChange={(models) => set({ models })}
        />
      )}
      {isAdmin && isNew && (
        <Role role={draft.role} onChange={(role) => set({ role })} error={errorOfField(error, 'role')} />
      )}
      {draft.role === undefined && (
        <Permissions
          chosen={draft.permissions}
          onChange={(permissions) => set({ permissions })}
          offered={isAdmin ? adminPermissions : apiKeyPermissions}
          label={isAdmin ? text.permissionsOfAdmin : text.permissionsOfKey}
          hint={isNew && !isAdmin ? text.defaultPermissions : undefined}
          error={errorOfField(error, 'permissions')}
        />
      )}
      <Field label={text.expiry} hint={text.expiryHint} error={errorOfField(error, 'expires_at')}>
        {(props) => (
          <input
            {...props}
            type="date"
            min={today()}
            value={draft.expires}
            onChange={(event) => set({ expires: event.target.value })}
          />
        )}
      </Field>
      <Field label={text.addresses} hint={text.addressesHint} error={errorOfField(error, 'allowed_ips')}>
        {(props) => (
          <input
            {...props}
            value={draft.addresses}
            spellCheck={false}
            onChange={(event) => set({ addresses: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

type RoleProps = {
  readonly role: RoleName | undefined
  readonly onChange: (role: RoleName | undefined) => void
  readonly error: string | undefined
}

/** A role gives the key its permissions. One that has more than the signed-in administrator cannot be given. */
function Role({ role, onChange, error }: RoleProps) {
  const roles = useRoles().data?.data ?? []
  const { permissions: own } = useMe()
  const isGrantable = (permissions: readonly Permission[]): boolean =>
    own.includes('*') || permissions.every((permission) => own.includes(permission))
  const chosen = roles.find(({ id }) => id === role)
  return (
    <Field label={text.role} hint={chosen?.description ?? text.roleHint} error={error}>
      {(props) => (
        <select
          {...props}
          value={role ?? ''}
          onChange={(event) => onChange(roles.find(({ id }) => id === event.target.value)?.id)}
        >
          <option value="">{text.noRole}</option>
          {roles.map(({ id, permissions }) => (
            <option key={id} value={id} disabled={!isGrantable(permissions)}>
              {isGrantable(permissions) ? id : text.roleBeyond(id)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type PermissionsProps = {
  readonly label: string
  readonly hint: string | undefined
  readonly error: string | undefined
  readonly offered: readonly Permission[]
  readonly chosen: readonly Permission[]
  readonly onChange: (permissions: readonly Permission[]) => void
}

/** A permission that the signed-in administrator lacks cannot be granted; the box says so. */
function Permissions({ label, hint, error, offered, chosen, onChange }: PermissionsProps) {
  const { permissions: own } = useMe()
  const toggle = (permission: Permission, isOn: boolean): void =>
    onChange(isOn ? [...chosen, permission] : chosen.filter((each) => each !== permission))
  return (
    <fieldset className={styles.permissions}>
      <legend>{label}</legend>
      <div>
        {offered.map((permission) => {
          const isChosen = chosen.includes(permission)
          const isGrantable = isChosen || own.includes('*') || own.includes(permission)
          return (
            <label key={permission} title={isGrantable ? undefined : text.lacks(permission)}>
              <input
                type="checkbox"
                checked={isChosen}
                disabled={!isGrantable}
                onChange={(event) => toggle(permission, event.target.checked)}
              />
              <span>
                <code>{permission}</code>
                <small>{permissionTexts[permission]}</small>
              </span>
            </label>
          )
        })}
      </div>
      {error === undefined ? <small>{hint}</small> : <small role="alert">{error}</small>}
    </fieldset>
  )
}

const today = (): string => dayOf(Date.now() / 1_000)
