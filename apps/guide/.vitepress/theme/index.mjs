/** The default theme without its fonts: text is in the reader's own. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
