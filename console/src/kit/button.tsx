import type { ButtonHTMLAttributes, Ref } from 'react'
import { Icon, type IconName } from './icon.tsx'
import styles from './button.module.css'

export type ButtonLook = 'normal' | 'primary' | 'ghost' | 'danger'

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly look?: ButtonLook
  readonly isSmall?: boolean
  readonly icon?: IconName
}

export function Button({ look = 'normal', isSmall = false, icon, children, className, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={buttonClass({ look, isSmall, className })}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'icon' | 'children'> & {
  readonly icon: IconName
  readonly label: string
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button without words. Its label is read out, and shown on hover. */
export function IconButton({ icon, label, look = 'ghost', isSmall = false, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`${buttonClass({ look, isSmall, className })} ${styles.square}`}
    >
      <Icon name={icon} size={isSmall ? 14 : 16} />
    </button>
  )
}

type Look = { readonly look: ButtonLook; readonly isSmall?: boolean; readonly className?: string | undefined }

/** For elements that look like a button and are something else, such as the trigger of a menu. */
export const buttonClass = ({ look, isSmall = false, className = '' }: Look): string =>
  `${styles.button} ${styles[look]} ${isSmall ? styles.small : ''} ${className}`
