use strict;
use warnings;
use utf8;
use Encode qw(decode_utf8);
use SOAP::Lite;

my ( $wsdl, $text ) = map { decode_utf8($_) } @ARGV;
( my $url = $wsdl ) =~ s/\?.*//;
binmode STDOUT, ':utf8';

sub show { print join( "\t", @_ ), "\n" }

for my $version ( [ soap11 => '1.1' ], [ soap12 => '1.2' ] ) {
    my ( $binding, $number ) = @$version;

    my $client = SOAP::Lite->soapversion($number)->proxy($url)->default_ns('http://tempuri.org/');
    $client->on_action( sub { '"' . $_[0] =~ s{/?$}{/}r . $_[1] . '"' } );
    $client->on_fault( sub { $_[1] } );
    show( $binding, 'HelloWorld',  $client->call('HelloWorld')->result );
    show( $binding, 'RecordEvent', $client->call('RecordEvent')->result );
    show( $binding, 'payload',     $client->call( 'RecordEvent', SOAP::Data->name( note => $text )->type('string') )->result );
    show( $binding, 'GetEvents',   $client->call('GetEvents')->result );
    my $fault = $client->call('Unknown')->fault;
    my ( $code, $reason ) = ( $fault->{faultcode} // $fault->{Code}{Value}, $fault->{faultstring} // $fault->{Reason}{Text} );
    $code =~ s/.*://;
    show( $binding, 'fault', "SOAP::Fault $code: $reason" );
}
