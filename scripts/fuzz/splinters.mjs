// What breaks a message, or nearly, wherever it is put in.

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** Each line holds several, with ¦ between them. */
const LINES = [
  `<¦>¦/¦/>¦</¦&¦;¦"¦'¦=¦:¦-¦--¦!¦?¦]¦]]¦]]>¦ ¦\t¦\n¦\r`,
  '\r\n¦\n\r¦\0¦\x01¦\x0b¦\x1f¦\x7f¦\x85¦\xa0¦\u2028¦\ufeff¦\ufffe¦\uffff¦\ufffd',
  '\ud800¦\udc00¦😀¦\ud83d<¦\udbff\udfff¦é¦日本¦😀¦\u0300¦·',
  '&lt;¦&gt;¦&amp;¦&quot;¦&apos;¦&#65;¦&#x41;¦&#X41;¦&#0;¦&#1;¦&#9;¦&#10;¦&#13;¦&#32;',
  '&#xD800;¦&#xFFFE;¦&#x10FFFF;¦&#x110000;¦&#58;¦&#x3a;¦&;¦&#;¦&#x;¦&lt¦&x;¦&LT;¦& lt;',
  '&#0000000000065;¦&#x1F600;¦&#-5;¦&#1e2;¦&constructor;¦&__proto__;¦&#6 5;¦&l\r\nt;',
  '<!--¦-->¦<!-- c -->¦<!---->¦<!--->¦<!-- -- -->¦<!-- a --->¦<!-->¦<!- a -->¦<!--\r\n-\r-->',
  '<![CDATA[¦<![CDATA[]]>¦<![CDATA[ ]]>¦<![CDATA[a:b<&]]>¦<![CDATA[]]]]>¦<![CDATA[\r\n]]>¦<![cdata[x]]>¦<![',
  '<?xml version="1.0"?>¦<?pi?>¦<?pi x?>¦<?xml?>¦<?XML x?>¦<??>¦<?¦?>¦<?p:i?>¦<?xml-stylesheet x?>',
  '<!DOCTYPE a>¦<!DOCTYPE a [<!ENTITY b "c">]>¦<!ELEMENT a>¦<!x>¦<!>¦<>¦</>¦< a>¦</ a>¦<a/ >¦<a / >',
  '<a/>¦<b></b>¦<a>¦</a>¦<a¦</a¦<:a/>¦<a:/>¦<a:b:c/>¦<a::b/>¦<1a/>¦<-a/>¦<.a/>¦<é/>¦<a·/>',
  '<p:a/>¦<s:a/>¦<q:b>¦</q:b>¦<xml:a/>¦<xmlns:a/>¦<xmlns/>¦<xml/>¦<__proto__/>¦<constructor>¦<a.b-c_d/>',
  ` a="1"¦ a="2"¦ a='1'¦ a=1¦ a¦ a=¦ a = "1"¦ a\n=\n"1"¦ a="1"b="2"¦ a="<"¦ a=">"¦ a="&lt;"`,
  ` a="&#10;&#13;&#9;"¦ a="\r\n\t \n\r"¦ a="'"¦ a='"'¦ p:a="1"¦ q:a="1"¦ p:a="2"¦ é="1"¦ a:b:c="1"¦ :a="1"`,
  ' xmlns=""¦ xmlns="urn:d"¦ xmlns=" urn:d "¦ xmlns:p=""¦ xmlns:p=" "¦ xmlns:p="urn:p"¦ xmlns:q="urn:p"',
  ' xmlns:p="urn:q"',
  ` xmlns:xml="${XML}"¦ xmlns:p="${XML}"¦ xmlns="${XML}"¦ xmlns:p="${XMLNS}"¦ xmlns="${XMLNS}"`,
  ' xmlns:xml="urn:x"¦ xmlns:xmlns="urn:x"',
  ' xml:lang="en"¦ xml:lang="de"¦ xml:space="preserve"¦ xmlns:="urn:x"¦ xmlns:p="urn:&lt;&quot;"',
  ' xmlns:p="\xa0"¦ __proto__="1"',
  's:mustUnderstand="1"¦ s:mustUnderstand=" true "¦ xsi:nil="true"¦ xsi:type="xsd:int"¦ Type="x"¦text¦a:b',
  'xsd:int¦p:¦:p',
  '<s:Header>¦</s:Header>¦<s:Body>¦</s:Body>¦<s:Body/>¦</s:Envelope>¦<s:Header/>',
  '<RecordEvent xmlns="http://tempuri.org/">¦</RecordEvent>',
];

export const SPLINTERS = LINES.flatMap((line) => line.split('¦'));
